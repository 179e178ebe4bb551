//! `nrt_execute`, as far as a library without an engine can go: tensors are found by name, checked, and their
//! addresses written over the templates of the instruction images (staging.md §5.6, §10.3).

use crate::failure::{Answer, Failure};
use crate::handles::Handle;
use crate::model::{Core, Feature, Model, names};
use crate::session::Session;
use crate::set::TensorSet;
use loader_core::device::Device;
use loader_core::plan::operand;
use std::collections::BTreeMap;

/// Addresses of tensors by variable.
type Bound = BTreeMap<u32, u64>;

/// Binds the tensors of both sets to every core of a model.
pub(crate) fn bind(session: &Session, model: &Model, inputs: &TensorSet, outputs: &TensorSet) -> Answer {
    // All names are looked up before the first word is written: a refused call leaves the images alone.
    let found: Vec<(&Core, Bound)> = model
        .cores
        .iter()
        .map(|core| {
            let mut bound = Bound::new();
            look_up(session, &core.inputs, inputs, "input", &mut bound)?;
            look_up(session, &core.outputs, outputs, "output", &mut bound)?;
            Ok((core, bound))
        })
        .collect::<Answer<_>>()?;
    for (core, bound) in &found {
        patch(session, core, bound)?;
    }
    Ok(())
}

/// What `nrt_execute` says when everything before it is done.
pub(crate) fn no_engine() -> Failure {
    Failure::not_implemented("the tensors are bound, but there is no engine here that could run the model")
}

fn look_up(
    session: &Session,
    features: &[Feature],
    set: &TensorSet,
    kind: &str,
    bound: &mut Bound,
) -> Answer {
    for feature in features {
        names::carried(&feature.name, kind)?;
        let name = String::from_utf8_lossy(&feature.name);
        let missing = || Failure::invalid(format_args!("the {kind} set has no tensor `{name}`"));
        let handle: Handle = set.get(&feature.name).ok_or_else(missing)?;
        let tensor = session.tensor(handle).map_err(|failure| {
            Failure::new(failure.status, format_args!("the tensor of {kind} `{name}` was freed"))
        })?;
        if tensor.size() < feature.least {
            let (own, least) = (tensor.size(), feature.least);
            let text = format_args!("{kind} `{name}` needs {least} bytes, its tensor has {own}");
            return Err(Failure::invalid(text));
        }
        bound.insert(feature.var, tensor.address().0);
    }
    Ok(())
}

fn patch(session: &Session, core: &Core, bound: &Bound) -> Answer {
    for bind in &core.binds {
        let wrong = |what: &str| {
            let (var, core) = (bind.var, core.core.0);
            Failure::invalid(format_args!("variable {var} of core {core} {what}"))
        };
        let address = bound.get(&bind.var).ok_or_else(|| wrong("is neither input nor output"))?;
        let word = address.checked_add(bind.offset).and_then(operand::absolute);
        let word = word.ok_or_else(|| wrong("lies where no operand reaches"))?;
        session.device.write(bind.block, bind.at, &word)?;
    }
    Ok(())
}
