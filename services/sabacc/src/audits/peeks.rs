//! `sabacc audit peeks`: checks every card reveal in the dealer's whole log.

use std::collections::{BTreeMap, BTreeSet};

use audit::hand;
use primitives::HandId;
use serde_json::json;
use wire::DealerRecord;

use crate::logs::{self, Logs};
use crate::output;

pub(super) async fn run(logs: &mut Logs, json: bool) -> anyhow::Result<bool> {
    let mut hands: BTreeSet<HandId> = BTreeSet::new();
    logs::for_each_event(&logs.dealer.reader, |event| {
        if let Ok(DealerRecord::CardsOpened(_)) = DealerRecord::try_from(event) {
            hands.insert(HandId(event.stream.0));
        }
    })
    .await?;
    let mut cards: BTreeMap<String, u64> = BTreeMap::new();
    let (mut uncalled, mut unjudged) = (Vec::new(), Vec::new());
    for id in &hands {
        // A hand that the table does not know gives no rule for a reveal.
        let opened = match logs.hand_records(*id).await {
            Ok(records) => hand::reveal_report(&records),
            Err(error) => {
                unjudged.push((id.to_string(), format!("{error:#}")));
                continue;
            }
        };
        for (caller, count) in opened.cards {
            *cards.entry(caller).or_default() += count;
        }
        uncalled.extend(opened.uncalled);
        unjudged.extend(opened.unjudged.map(|why| (id.to_string(), why)));
    }
    let passed = uncalled.is_empty();
    if json {
        let uncalled: Vec<_> = uncalled
            .iter()
            .map(|(caller, at, what)| json!({ "caller": caller, "position": at, "what": what }))
            .collect();
        let unjudged: BTreeMap<_, _> = unjudged.into_iter().collect();
        output::line(&serde_json::to_string(&json!({
            "passed": passed, "hands": hands.len(), "cards": cards,
            "uncalled": uncalled, "unjudged": unjudged,
        }))?);
        return Ok(passed);
    }
    for (caller, count) in &cards {
        let theirs = uncalled.iter().filter(|(who, _, _)| who == caller).count();
        output::line(&format!("{caller}: {count} cards opened, {theirs} openings without a rule"));
    }
    for (_, _, what) in &uncalled {
        output::line(&format!("PEEK: {what}"));
    }
    for (hand, why) in &unjudged {
        output::line(&format!("hand {hand}: nothing can be said yet: {why}"));
    }
    let verdict = if passed { "no rule was passed over" } else { "cards were looked at" };
    output::line(&format!("{} hands with opened cards: {verdict}", hands.len()));
    Ok(passed)
}
