//! Reads text with the program `tesseract`: bounded, single-threaded, and killed when the caller is dropped.

use std::{
    io,
    process::Stdio,
    sync::{Mutex, MutexGuard, PoisonError},
};

use deskhand_desktop::Picture;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

use crate::{
    error::OcrReadError,
    options::OcrOptions,
    words::{OcrLabel, labels_of_words, words_of_table},
};

/// The most of its output that is read, in bytes.
const ANSWER_MAX: u64 = 8 * 1024 * 1024;
/// The most of its error output that is read, in bytes.
const COMPLAINT_MAX: u64 = 16 * 1024;

/// Reads text. Most of the time the program loads its model, and then it waits for a picture: so one is always started
/// ahead of the next picture.
#[derive(Debug)]
pub(crate) struct Tesseract {
    options: OcrOptions,
    /// The program that waits for a picture.
    waiting: Mutex<Option<Child>>,
}

impl Tesseract {
    pub(crate) fn new(options: OcrOptions) -> Self {
        Self { options, waiting: Mutex::new(None) }
    }

    /// The labels in a picture.
    ///
    /// # Errors
    /// [`OcrReadError`] if the program is missing, fails or takes too long.
    pub(crate) async fn read(&self, picture: Picture) -> Result<Vec<OcrLabel>, OcrReadError> {
        let options = &self.options;
        let (origin, scale) = (picture.region.origin(), options.scale.clamp(1, 8));
        let program = options.program.display().to_string();
        let failed = |error: &dyn std::fmt::Display| OcrReadError::Failed {
            program: program.clone(),
            complaint: error.to_string(),
        };
        let enlarge = tokio::task::spawn_blocking(move || picture.to_enlarged_grey(scale).to_pgm());
        let file = enlarge.await.map_err(|error| failed(&error))?;
        let run = run(options, &program, self.started(), &file);
        let table = tokio::time::timeout(options.timeout, run).await.unwrap_or_else(|_| {
            Err(OcrReadError::TimedOut {
                reader: format!("`{program}`"),
                limit_ms: options.timeout.as_millis(),
            })
        })?;
        self.prepare();
        let words = words_of_table(&table, options.confidence_min);
        Ok(labels_of_words(&words, origin, scale))
    }

    /// Starts the program for the next picture, if none waits. A failure shows when it is read.
    pub(crate) fn prepare(&self) {
        let mut waiting = self.waiting();
        if waiting.is_none() {
            *waiting = start(&self.options).ok();
        }
    }

    /// The program that waits, unless it has ended, else another one.
    fn started(&self) -> io::Result<Child> {
        let waiting = self.waiting().take();
        let alive = waiting.and_then(|mut child| matches!(child.try_wait(), Ok(None)).then_some(child));
        alive.map_or_else(|| start(&self.options), Ok)
    }

    fn waiting(&self) -> MutexGuard<'_, Option<Child>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the program read a picture; dropping the future kills it.
async fn run(
    options: &OcrOptions,
    program: &str,
    started: io::Result<Child>,
    file: &[u8],
) -> Result<String, OcrReadError> {
    let failed = |complaint: String| OcrReadError::Failed { program: program.to_owned(), complaint };
    let mut child = started.map_err(|error| {
        if error.kind() == io::ErrorKind::NotFound {
            return OcrReadError::Missing(program.to_owned());
        }
        failed(error.to_string())
    })?;
    let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
    let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else {
        return Err(failed("it has no pipes".to_owned()));
    };
    let (mut table, mut complaint) = (Vec::new(), Vec::new());
    let mut answers = stdout.take(ANSWER_MAX);
    let mut complaints = stderr.take(COMPLAINT_MAX);
    let write = async move {
        // A program that exits without reading breaks the pipe; its exit status says why.
        let _: io::Result<()> = stdin.write_all(file).await;
    };
    let ((), read, _) =
        tokio::join!(write, answers.read_to_end(&mut table), complaints.read_to_end(&mut complaint));
    read.map_err(|error| failed(error.to_string()))?;
    let status = child.wait().await.map_err(|error| failed(error.to_string()))?;
    if status.success() {
        return Ok(String::from_utf8_lossy(&table).into_owned());
    }
    let complaint = String::from_utf8_lossy(&complaint);
    if complaint.contains("traineddata") || complaint.contains("Failed loading language") {
        return Err(OcrReadError::Language {
            program: program.to_owned(),
            languages: options.languages.clone(),
        });
    }
    let last = complaint.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it said nothing");
    Err(failed(format!("{last} ({status})")))
}

fn start(options: &OcrOptions) -> io::Result<Child> {
    /// Variables of our environment that the program needs; no others are passed, because they may hold keys.
    const PASSED: [&str; 6] = ["HOME", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "PATH", "TESSDATA_PREFIX"];
    let passed = PASSED.iter().filter_map(|name| Some((*name, std::env::var_os(name)?)));
    Command::new(&options.program)
        .env_clear()
        .envs(passed)
        .args(["-", "-", "-l", &options.languages])
        .args(["--psm", &options.segmentation.to_string()])
        // The resolution of enlarged screen text; otherwise the program guesses, with a warning.
        .args(["--dpi", &(96 * options.scale.clamp(1, 8)).to_string()])
        .arg("tsv")
        // More threads are slower on pictures of this size.
        .env("OMP_THREAD_LIMIT", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
}
