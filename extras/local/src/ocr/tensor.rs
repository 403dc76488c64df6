//! Models in ONNX form, and pictures as their inputs.

use image::RgbImage;
use rten::{Model, ModelOptions, RunOptions, Value, op_registry};

use super::error::OcrError;

/// Loads a model with the operators that PP-OCR uses; others are left out of the program.
///
/// # Errors
/// It is no model, or uses another operator.
pub(crate) fn load(file: Vec<u8>, part: &'static str) -> Result<Model, OcrError> {
    let operators = op_registry!(
        Add,
        AveragePool,
        BatchNormalization,
        Cast,
        Clip,
        Concat,
        Conv,
        ConvTranspose,
        Div,
        Erf,
        GlobalAveragePool,
        HardSigmoid,
        Identity,
        MatMul,
        MaxPool,
        Mul,
        Pow,
        ReduceMean,
        Relu,
        Reshape,
        Resize,
        Shape,
        Sigmoid,
        Slice,
        Softmax,
        Sqrt,
        Squeeze,
        Sub,
        Transpose,
        Unsqueeze
    );
    let mut options = ModelOptions::with_ops(operators);
    options.prepack_weights(true);
    options.load(file).map_err(|error| OcrError::Model { part, problem: error.to_string() })
}

/// A picture as a tensor of three channels, blue first, each from -1 to 1: `[channel][row][column]`. It is filled up with
/// grey to the given sides.
pub(crate) fn channels(picture: &RgbImage, width: usize, height: usize) -> Vec<f32> {
    let mut tensor = vec![0.0; 3 * width * height];
    let across = usize::try_from(picture.width()).unwrap_or(0).min(width);
    let rows = picture.as_raw().chunks_exact(usize::try_from(picture.width()).unwrap_or(0).max(1) * 3);
    for (plane, channel) in tensor.chunks_exact_mut((width * height).max(1)).zip([2, 1, 0]) {
        for (to, from) in plane.chunks_exact_mut(width.max(1)).zip(rows.clone()) {
            let levels = from.iter().skip(channel).step_by(3);
            for (to, level) in to.iter_mut().take(across).zip(levels) {
                *to = f32::from(*level) / 127.5 - 1.0;
            }
        }
    }
    tensor
}

/// Runs a model on a tensor of the form `[1, 3, height, width]`; the shape of what it computes, and the numbers.
///
/// # Errors
/// The computation failed, or its result has another form.
pub(crate) fn compute<const N: usize>(
    model: &Model,
    part: &'static str,
    input: Vec<f32>,
    [width, height]: [usize; 2],
    options: RunOptions,
) -> Result<([usize; N], Vec<f32>), OcrError> {
    let failed = |problem: String| OcrError::Model { part, problem };
    let input = Value::from_shape([1, 3, height, width], input).map_err(|error| failed(error.to_string()))?;
    let output = model.run_one(input.into(), Some(options)).map_err(|error| failed(error.to_string()))?;
    output.into_shape_vec::<f32, N>().map_err(|error| failed(error.to_string()))
}
