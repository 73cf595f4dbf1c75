//! Conversion of hand histories to protobuf messages and bytes, and back, without loss.

use ::history::HandHistory;
use primitives::{Credits, Quoted};
use prost::Message as _;
use proto::common::v1 as common;
use proto::common::v1::rule_set_field::Value;
use proto::history::v1 as pb;
use rules::FieldValue;

use crate::field::{BadField, credits};
use crate::ruleset::write_field;

/// Encodes a history as protobuf bytes.
#[must_use]
pub fn encode(history: &HandHistory) -> Vec<u8> {
    write(history).encode_to_vec()
}

/// Decodes a history from protobuf bytes.
pub fn decode(bytes: &[u8]) -> Result<HandHistory, BadField> {
    let message = pb::HandHistory::decode(bytes)
        .map_err(|error| BadField::new("hand_history", error.to_string()))?;
    read(message)
}

/// Converts a history to its message.
#[must_use]
pub fn write(history: &HandHistory) -> pb::HandHistory {
    let HandHistory {
        variant,
        ruleset,
        id,
        table,
        started_at,
        engine,
        commitment,
        reveal,
        seats,
        players,
        starting_stacks,
        sabacc_pot,
        carried_pot,
        actions,
        settlement,
        finishing_stacks,
        finishing_sabacc_pot,
        finishing_carried_pot,
    } = history;
    let amounts = |amounts: &[Credits]| amounts.iter().map(|amount| amount.get()).collect();
    pb::HandHistory {
        variant: variant.clone(),
        ruleset: ruleset.iter().map(|(name, value)| write_field(name, value)).collect(),
        id: id.clone(),
        table: table.clone(),
        started_at: started_at.clone(),
        engine: engine.clone(),
        commitment: commitment.clone(),
        reveal: reveal.clone(),
        seats: seats.clone(),
        players: players.clone(),
        starting_stacks: amounts(starting_stacks),
        sabacc_pot: sabacc_pot.get(),
        carried_pot: carried_pot.get(),
        actions: actions.clone(),
        settlement: settlement.clone().map(|lines| pb::Settlement { lines }),
        finishing_stacks: finishing_stacks
            .as_deref()
            .map(|stacks| pb::Stacks { amounts: amounts(stacks) }),
        finishing_sabacc_pot: finishing_sabacc_pot.map(Credits::get),
        finishing_carried_pot: finishing_carried_pot.map(Credits::get),
    }
}

/// Converts a message to a history. Amounts out of range are refused.
pub fn read(message: pb::HandHistory) -> Result<HandHistory, BadField> {
    let pb::HandHistory {
        variant,
        ruleset,
        id,
        table,
        started_at,
        engine,
        commitment,
        reveal,
        seats,
        players,
        starting_stacks,
        sabacc_pot,
        carried_pot,
        actions,
        settlement,
        finishing_stacks,
        finishing_sabacc_pot,
        finishing_carried_pot,
    } = message;
    let all = |field: &str, amounts: Vec<u64>| -> Result<Vec<Credits>, BadField> {
        amounts.into_iter().map(|amount| credits(field, amount)).collect()
    };
    for seat in &seats {
        credits("seats", *seat)?;
    }
    let stacks = |pb::Stacks { amounts }| all("finishing_stacks", amounts);
    let pot = |field: &'static str| move |amount| credits(field, amount);
    Ok(HandHistory {
        variant,
        ruleset: ruleset.into_iter().map(read_field).collect::<Result<_, _>>()?,
        id,
        table,
        started_at,
        engine,
        commitment,
        reveal,
        seats,
        players,
        starting_stacks: all("starting_stacks", starting_stacks)?,
        sabacc_pot: credits("sabacc_pot", sabacc_pot)?,
        carried_pot: credits("carried_pot", carried_pot)?,
        actions,
        settlement: settlement.map(|pb::Settlement { lines }| lines),
        finishing_stacks: finishing_stacks.map(stacks).transpose()?,
        finishing_sabacc_pot: finishing_sabacc_pot.map(pot("finishing_sabacc_pot")).transpose()?,
        finishing_carried_pot: finishing_carried_pot
            .map(pot("finishing_carried_pot"))
            .transpose()?,
    })
}

fn read_field(field: common::RuleSetField) -> Result<(String, FieldValue), BadField> {
    let common::RuleSetField { name, value } = field;
    let value = match value {
        Some(Value::Number(number)) => FieldValue::Number(credits("ruleset", number)?.get()),
        Some(Value::Text(text)) => FieldValue::Text(text),
        Some(Value::Flag(flag)) => FieldValue::Flag(flag),
        Some(Value::List(common::WordList { words })) => FieldValue::List(words),
        None => return Err(BadField::new("ruleset", format!("`{}` has no value", Quoted(&name)))),
    };
    Ok((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;

    use prost_reflect::{DescriptorPool, DynamicMessage};

    use ::history::simulate::Plan;

    fn any(variant: &str, ruleset: &str) -> impl Iterator<Item = HandHistory> {
        let plan = Plan::try_new(variant, ruleset, 4, 5).unwrap();
        (0..20).map(move |number| plan.hand(number).unwrap())
    }

    fn every() -> Vec<HandHistory> {
        let mut all: Vec<HandHistory> =
            rules::ALL.iter().flat_map(|variant| any(variant.id, "")).collect();
        all.extend(any("dice", "holdem=true,shift=1d10,rake_bps=500,hand_ante=7"));
        all.extend(any("kessel", "tokens=assigned,assigned_tokens=refund+embargo+immunity"));
        all[0].id = Some(String::new());
        all[1].started_at = Some("2026-01-31T20:15:00Z".to_owned());
        all[2].settlement = Some(Vec::new());
        all[3].finishing_stacks = None;
        all
    }

    /// history/SPEC.md §9.2.
    #[test]
    fn bytes_lose_nothing() {
        for history in every() {
            assert_eq!(decode(&encode(&history)), Ok(history));
        }
    }

    /// history/SPEC.md §9.1.
    #[test]
    fn the_json_form_is_what_the_protobuf_mapping_says() {
        let pool = DescriptorPool::decode(proto::DESCRIPTORS).unwrap();
        let kind = pool.get_message_by_name("sabacc.history.v1.HandHistory").unwrap();
        for history in every() {
            let ours = ::history::json::write(&history);
            let mut reader = serde_json::Deserializer::from_str(&ours);
            let read = DynamicMessage::deserialize(kind.clone(), &mut reader).unwrap();
            assert_eq!(read.encode_to_vec(), encode(&history));
            let theirs = serde_json::to_string(&read).unwrap();
            assert_eq!(::history::json::read(&theirs).unwrap(), history);
            assert_eq!(theirs, ours);
        }
    }

    /// history/SPEC.md §9.2.
    #[test]
    fn damaged_bytes_are_refused_by_field() {
        let refused = |change: &dyn Fn(&mut pb::HandHistory)| {
            let mut message = write(&any("dice", "hand_ante=7").next().unwrap());
            change(&mut message);
            read(message).unwrap_err().field
        };
        assert_eq!(refused(&|message| message.sabacc_pot = 1 << 53), "sabacc_pot");
        assert_eq!(refused(&|message| message.starting_stacks[1] = 1 << 53), "starting_stacks");
        assert_eq!(refused(&|message| message.seats[0] = u64::MAX), "seats");
        assert_eq!(refused(&|message| message.ruleset[0].value = None), "ruleset");
        assert_eq!(decode(&[0xff]).unwrap_err().field, "hand_history");
    }
}
