//! The checks that `verify` names, in the order in which they are made.

use loader_core::container::Order;
use loader_core::error::{Code, ContainerCode, Error, Stage};
use loader_std::container::Survey;

/// One check and its outcome.
#[derive(Clone, Debug)]
pub(super) struct Check {
    pub(super) name: &'static str,
    /// What it is called on a line for people when it passed.
    pub(super) words: String,
    /// `None` if an earlier check ended the reading.
    pub(super) passed: Option<bool>,
}

const SHALLOW: [&str; 9] =
    ["preflight", "lnc", "version", "features", "sizes", "package", "digest", "payload", "archive"];
const DEEP: [&str; 2] = ["manifests", "lowering"];

/// Every check with its outcome.
pub(super) fn checks(survey: &Survey, deep: Option<&Error>, with_deep: bool) -> impl Iterator<Item = Check> {
    let names = SHALLOW.iter().chain(if with_deep { &DEEP[..] } else { &[] });
    let names: Vec<&'static str> = names.copied().collect();
    let error = survey.error.as_ref().or(deep);
    let failed = error.map(|error| names.iter().position(|name| *name == failed(error)).unwrap_or(0));
    let digest = digest_words(survey);
    names.into_iter().enumerate().map(move |(at, name)| {
        let passed = match failed {
            Some(failed) if at > failed => None,
            Some(failed) => Some(at < failed),
            None => Some(true),
        };
        let words = if name == "digest" { digest.clone() } else { name.to_owned() };
        Check { name, words, passed }
    })
}

/// The check that an error belongs to.
fn failed(error: &Error) -> &'static str {
    use ContainerCode as C;
    match (error.stage(), error.code()) {
        (Stage::Lower, _) => "lowering",
        (Stage::Manifest, _) => "manifests",
        (_, Code::Container(code)) => match code {
            C::LncMismatch => "lnc",
            C::Version => "version",
            C::UnknownFeatures => "features",
            C::DataSize => "sizes",
            C::Packager => "package",
            C::EmptyPayload | C::Md5Mismatch | C::Sha256Mismatch => "digest",
            _ => match error.id().number {
                101..200 => "preflight",
                301..400 => "payload",
                _ => "archive",
            },
        },
        _ => "archive",
    }
}

fn digest_words(survey: &Survey) -> String {
    match &survey.digest {
        Some(digest) => {
            let order = if digest.order == Some(Order::Swapped) { ", word-swapped" } else { "" };
            format!("digest({}{order})", digest.algorithm.name())
        }
        None => "digest".to_owned(),
    }
}
