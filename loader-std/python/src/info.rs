//! `NeffInfo` for Python.

use crate::value::to_python;
use crate::{Named, open, refused};
use loader_core::limits::Limits;
use loader_std::Refusal;
use loader_std::file::Buffers;
use loader_std::info::WorldSizeRule;
use loader_std::members::Unpacked;
use pyo3::exceptions::PyFileNotFoundError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::path::{Path, PathBuf};

/// The tooling view of a file, under the method names of the vendor's reader.
#[pyclass(module = "neffload", frozen)]
pub(crate) struct NeffInfo {
    view: loader_std::NeffInfo<Unpacked>,
    path: PathBuf,
}

/// The system's number for it.
const ENOENT: i32 = 2;

/// The reader's own text for a file that is not there (manifests.md §19.3), in Python's class for that.
fn absent(py: Python<'_>, path: &Path, error: PyErr) -> PyErr {
    // The exception itself is asked: it was raised as an `OSError`, and Python chose the class of its number.
    if !error.value(py).is_instance_of::<PyFileNotFoundError>() {
        return error;
    }
    let text = Refusal::no_file().text();
    PyFileNotFoundError::new_err((ENOENT, text, path.as_os_str().to_owned()))
}

/// Getters that take no argument: the name in Python is the name of the roster.
macro_rules! getters {
    ($($name:ident = $getter:literal: $text:literal,)*) => {
        #[pymethods]
        impl NeffInfo {
            /// Opens and unpacks a file.
            #[new]
            #[pyo3(signature = (path, *, strict = false, total_workers = false))]
            fn new(py: Python<'_>, path: Named, strict: bool, total_workers: bool) -> PyResult<Self> {
                let Named(path) = path;
                let mut input = open(py, &path).map_err(|error| absent(py, &path, error))?;
                let read = py.detach(|| {
                    Unpacked::read(&mut input, &mut Buffers::new(), &Limits::DEFAULT, |_| true)
                });
                let members = read.map_err(|refusal| refused(py, &refusal))?;
                let rule = if total_workers { WorldSizeRule::TotalWorkers } else { WorldSizeRule::LargestGroup };
                let view = loader_std::NeffInfo::new(members).strict(strict).world_size_rule(rule);
                Ok(Self { view, path })
            }

            /// Opens and unpacks a file; the vendor's way to say it.
            #[staticmethod]
            #[pyo3(name = "parseFile")]
            fn parse_file(py: Python<'_>, path: Named) -> PyResult<Self> {
                Self::new(py, path, false, false)
            }

            /// The content of the first member, in byte order, in whose name the pattern is found.
            #[pyo3(name = "findInNeff")]
            fn find_in_neff<'py>(&self, py: Python<'py>, pattern: &str) -> PyResult<Bound<'py, PyBytes>> {
                let found = self.view.find_in_neff(pattern).map_err(|refusal| refused(py, &refusal))?;
                Ok(PyBytes::new(py, found.content))
            }

            /// The path that the view was made from.
            #[pyo3(name = "getNeffFile")]
            fn get_neff_file(&self) -> String {
                self.path.display().to_string()
            }

            /// How many workers the collectives need.
            #[pyo3(name = "getCCRankWorldSize")]
            fn world_size(&self, py: Python<'_>) -> PyResult<u64> {
                let size = self.view.get_cc_rank_world_size().map_err(|refusal| refused(py, &refusal))?;
                Ok(size.world_size)
            }

            /// Any getter by its name, with the value of `neffload info --json`; `findInNeff` gives bytes. Numbers of a
            /// document are those of `json.loads`, of any size.
            #[pyo3(signature = (getter, argument = None))]
            fn get(&self, py: Python<'_>, getter: &str, argument: Option<&str>) -> PyResult<Py<PyAny>> {
                if let ("findInNeff", Some(pattern)) = (getter, argument) {
                    return Ok(self.find_in_neff(py, pattern)?.into_any().unbind());
                }
                let text = argument.is_none().then(|| self.view.text(getter, 0));
                let text = text.transpose().map_err(|refusal| refused(py, &refusal))?.flatten();
                if let Some(text) = text {
                    return Ok(py.import("json")?.call_method1("loads", (text,))?.unbind());
                }
                let answer = self.view.get(getter, argument).map_err(|refusal| refused(py, &refusal))?;
                to_python(py, &answer.value)
            }

            $(
                #[doc = $text]
                #[pyo3(name = $getter)]
                fn $name(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
                    self.get(py, $getter, None)
                }
            )*

            fn __repr__(&self) -> String {
                format!("NeffInfo({:?})", self.path.display().to_string())
            }
        }
    };
}

getters! {
    get_kelf = "getKelf": "The descriptor.",
    get_info_json = "getInfoJson": "The compiler's notes.",
    get_neff_json = "getNeffJson": "The graph.",
    get_def_json = "getDefJson": "The definition of the first subgraph.",
    get_tensor_map_json = "getTensorMapJson": "The first tensor map, as it stands.",
    get_tensor_map = "getTensorMap": "The first tensor map, read.",
    get_alias_info = "getAliasInfo": "Which output takes the buffer of which input.",
    has_must_alias = "hasMustAlias": "Some alias is required, not only allowed.",
    get_arch_type = "getArchType": "The target as the descriptor spells it.",
    has_cc = "hasCC": "The first subgraph has collectives.",
    get_num_nc = "getNumNc": "The number of subgraphs.",
    get_num_neuron_cores = "getNumNeuronCores": "Another name of getNumNc.",
    kelf_nodes = "kelfNodes": "How many executable nodes the graph has.",
    members = "members": "All member names in byte order.",
}
