#![allow(clippy::unwrap_used)]
use super::*;
use crate::error::{ManifestCode, Stage};

#[test]
fn the_first_in_dispatch_order_wins() {
    let mut verdict = Verdict::default();
    let error = |code: ManifestCode| Error::new(Stage::Manifest, code);
    let engine = Rank::new(0, Section::of(Engine::Pool)).step(1).item(7, 2);
    verdict.offer(engine, error(ManifestCode::TransferOp));
    verdict.offer(Rank::new(1, Section::Variables), error(ManifestCode::VarType));
    verdict.offer(Rank::new(0, Section::Fp8), error(ManifestCode::DefinitionMalformed));
    assert_eq!(verdict.error().unwrap().code(), ManifestCode::DefinitionMalformed.into());
    verdict.offer(Rank::new(0, Section::Queues).item(3, 1), error(ManifestCode::QueueType));
    verdict.offer(Rank::new(0, Section::Queues).item(3, 1), error(ManifestCode::QueueRole));
    assert_eq!(verdict.error().unwrap().code(), ManifestCode::QueueType.into());
    assert!(verdict.settled_before(engine));
    assert!(!verdict.settled_before(Rank::new(0, Section::Variables)));
}
