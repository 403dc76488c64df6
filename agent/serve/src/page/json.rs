//! Bodies of requests as JSON.

use aide::{OperationInput, generate::GenContext, openapi::Operation};
use axum::{
    Json,
    extract::{FromRequest, Request},
    http::StatusCode,
    response::{IntoResponse, Response},
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Number, Value};

use super::error::PageApiError;

/// The largest whole number that a fraction holds exactly.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// A body that is JSON. As in JSON schemas, `1.0` is a whole number.
pub(super) struct JsonBody<T>(pub(super) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for JsonBody<T> {
    type Rejection = Response;

    async fn from_request(request: Request, state: &S) -> Result<Self, Self::Rejection> {
        let Json(mut value) =
            Json::<Value>::from_request(request, state).await.map_err(IntoResponse::into_response)?;
        make_whole(&mut value);
        serde_json::from_value(value).map(Self).map_err(|error| {
            let words = format!("the body is not as the API describes it: {error}");
            PageApiError::new(StatusCode::UNPROCESSABLE_ENTITY, words).into_response()
        })
    }
}

impl<T: JsonSchema> OperationInput for JsonBody<T> {
    fn operation_input(context: &mut GenContext, operation: &mut Operation) {
        Json::<T>::operation_input(context, operation);
    }
}

/// Writes numbers that are whole as such.
fn make_whole(value: &mut Value) {
    match value {
        Value::Number(number) => {
            let fraction = number.as_f64().filter(|_| number.is_f64());
            if let Some(whole) = fraction.filter(|one| one.fract() == 0.0 && one.abs() <= WHOLE_MAX) {
                // Within these bounds its text is that of a whole number.
                let text = format!("{whole:.0}");
                if let Ok(whole) = text.trim_start_matches("-0").parse::<Number>().or_else(|_| "0".parse()) {
                    *number = if text.starts_with("-0") { Number::from(0) } else { whole };
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(make_whole),
        Value::Object(fields) => fields.values_mut().for_each(make_whole),
        Value::Null | Value::Bool(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_fraction_that_is_whole_is_a_whole_number() {
        let mut value = json!({"a": 9_999_999.0, "b": [1.5, -0.0, -3.0, 7], "c": "1.0", "d": 1e300});
        make_whole(&mut value);
        assert_eq!(value, json!({"a": 9_999_999, "b": [1.5, 0, -3, 7], "c": "1.0", "d": 1e300}));
    }
}
