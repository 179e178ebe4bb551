//! The Python module `neffload._neffload`; `python/neffload/__init__.py` is what programs import.
//!
//! Everything is the library's own answer turned into Python values: `NeffInfo` under its original method names,
//! and the documents of `inspect`, `memory` and `verify`.

mod info;
mod value;

use info::NeffInfo;
use loader_core::limits::Limits;
use loader_core::policy::Policy;
use loader_std::container::{self, Ask, survey};
use loader_std::file::{Buffers, Input};
use loader_std::inspect::{Question, document};
use loader_std::members::Unpacked;
use loader_std::memory::{Estimate, Page};
use loader_std::verdict::{self, NoNames};
use loader_std::{Refusal, environment};
use pyo3::create_exception;
use pyo3::exceptions::{PyOSError, PyValueError};
use pyo3::prelude::*;
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};
use value::to_python;

create_exception!(neffload, Refused, PyValueError, "The file or a getter refuses.");

/// A refusal as an exception with its code and member.
fn refused(py: Python<'_>, refusal: &Refusal) -> PyErr {
    let error = Refused::new_err(refusal.text());
    let value = error.value(py);
    // An exception takes attributes; without them it would still carry its text.
    let _ = value.setattr("code", refusal.error.id().to_string());
    let _ = value.setattr("member", refusal.member.clone());
    error
}

/// A path as Python's own `open` takes it: text, bytes, or an object that stands for either.
pub(crate) struct Named(pub(crate) PathBuf);

impl FromPyObject<'_, '_> for Named {
    type Error = PyErr;

    fn extract(path: Borrowed<'_, '_, PyAny>) -> PyResult<Self> {
        let text = path.py().import("os")?.call_method1("fsdecode", (path,))?;
        text.extract().map(Self)
    }
}

/// Opens a file; the system's refusal is an `OSError` that names it, as Python's own `open` has it. A path that no file
/// can have is a `ValueError`.
fn open(py: Python<'_>, path: &Path) -> PyResult<Input> {
    Input::open_path(path).map_err(|error| match error.raw_os_error() {
        Some(number) => os_error(py, number, path),
        None => PyValueError::new_err(error.to_string()),
    })
}

/// The system's refusal with its text; Python makes the subclass of the number from it.
fn os_error(py: Python<'_>, number: i32, path: &Path) -> PyErr {
    let text = py.import("os").and_then(|os| os.call_method1("strerror", (number,))?.extract::<String>());
    let text = text.unwrap_or_else(|_| format!("error {number}"));
    PyOSError::new_err((number, text, path.as_os_str().to_owned()))
}

/// What is in a file: the document of `neffload inspect --json`.
#[pyfunction]
#[pyo3(signature = (path, *, digests = false))]
fn inspect(py: Python<'_>, path: Named, digests: bool) -> PyResult<Py<PyAny>> {
    let Named(path) = path;
    let mut input = open(py, &path)?;
    let policy = Policy { verify_digest: false, report_digest: true, tooling: true, ..environment::policy() };
    let found = py.detach(|| {
        let question = Question { digests, ..Question::new(&policy) };
        document(&mut input, question, |_| {}, |_, _, _| {})
    });
    let mut keys = Map::new();
    keys.insert("schema".to_owned(), "neffload.inspect/1".into());
    keys.extend(found.map_err(|error| PyValueError::new_err(error.to_string()))?);
    to_python(py, &Value::Object(keys))
}

/// The device memory that a file will need: `memory` of `neffload memory --json`. Without a page size the environment's
/// counts, as there.
#[pyfunction]
#[pyo3(signature = (path, *, page_size = None))]
fn memory(py: Python<'_>, path: Named, page_size: Option<u64>) -> PyResult<Py<PyAny>> {
    let Named(path) = path;
    let mut input = open(py, &path)?;
    let estimate = py.detach(|| {
        let page = page_size.map_or_else(environment::page, Page::of)?;
        let members = Unpacked::read(&mut input, &mut Buffers::new(), &Limits::DEFAULT, Estimate::wants)?;
        Estimate::of(&members, page)
    });
    to_python(py, &json!(estimate.map_err(|refusal| refused(py, &refusal))?))
}

/// Whether a file is intact: header, archive and payload digest, but no manifest. Gives `file`, `digest`, `verdict`.
#[pyfunction]
fn verify(py: Python<'_>, path: Named) -> PyResult<Py<PyAny>> {
    let Named(path) = path;
    let mut input = open(py, &path)?;
    let seen = py.detach(|| {
        let ask = Ask { file_digest: true, ..Ask::default() };
        survey(&mut input, &mut Buffers::new(), &Policy::DEFAULT, &Limits::DEFAULT, ask, |_| {})
    });
    let seen = seen.map_err(|error| PyValueError::new_err(error.to_string()))?;
    let verdict = match &seen.error {
        Some(error) => verdict::refused(error, &NoNames),
        None => verdict::accepted(),
    };
    let digest = container::digest_json(&seen);
    to_python(py, &json!({ "file": container::file_json(&seen), "digest": digest, "verdict": verdict }))
}

/// The module.
#[pymodule]
fn _neffload(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    let refused = module.py().get_type::<Refused>();
    // What a program raises itself has them, too.
    refused.setattr("code", "")?;
    refused.setattr("member", module.py().None())?;
    module.add("Refused", refused)?;
    module.add_class::<NeffInfo>()?;
    module.add_function(wrap_pyfunction!(inspect, module)?)?;
    module.add_function(wrap_pyfunction!(memory, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)
}
