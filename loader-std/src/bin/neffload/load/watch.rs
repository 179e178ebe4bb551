//! The requests of a load to the kernel driver: counted always, printed on demand.

use crate::output::shown;
use neuron_drivers::abi::request::Request;
use neuron_drivers::neuron::{Libc, Line, Traced};
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// System calls that pass by here.
pub(super) type Watched = Traced<Libc, fn(&Line<'_>)>;

/// Requests of this process by value. A process has one device.
static COUNTS: Mutex<BTreeMap<u32, u64>> = Mutex::new(BTreeMap::new());

fn counts() -> MutexGuard<'static, BTreeMap<u32, u64>> {
    COUNTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The system calls of a device; `trace` prints each on standard error when it is done.
pub(super) fn watched(trace: bool) -> Watched {
    Traced::new(Libc, if trace { print } else { count })
}

fn count(line: &Line<'_>) {
    if let Line::Ioctl { request, .. } = *line {
        *counts().entry(request).or_default() += 1;
    }
}

fn print(line: &Line<'_>) {
    shown::complain(line);
    count(line);
}

/// How often each request was made, by its name; `None` if none was.
pub(super) fn requests() -> Option<Value> {
    let counts = counts();
    let name = |value: u32| Request::name_of(value).map_or_else(|| format!("{value:#010x}"), str::to_owned);
    let named: Map<String, Value> =
        counts.iter().map(|(&value, &count)| (name(value), count.into())).collect();
    (!named.is_empty()).then_some(Value::Object(named))
}
