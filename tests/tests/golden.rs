//! The worked hands in `golden/<variant>/NN-name.shh`: examples of the rules, written by hand.
//!
//! They state the rules, not the engine's output: the author of a hand works out its settlement,
//! winners and ranks. Readers of hand histories ignore the keys `_winners` and `_ranks`; here they
//! must match the report of a replay.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use history::{HandHistory, Report};
use rules::Variant;

/// Least number of worked hands of a variant.
const ENOUGH: usize = 12;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("golden")
}

/// Returns the file names of a folder, sorted.
fn names(folder: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).with_context(|| format!("{}", folder.display()))? {
        names.push(entry?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    Ok(names)
}

/// Calls `check` for every worked hand of a variant; an error names its file.
fn each(variant: &Variant, check: impl Fn(&str, &HandHistory) -> Result<()>) -> Result<()> {
    let folder = folder().join(variant.id);
    for name in names(&folder)? {
        let text = fs::read_to_string(folder.join(&name))?;
        let read = || {
            let mut hands = history::read(text.as_bytes())?;
            ensure!(hands.len() == 1, "one hand a file");
            let hand = hands.remove(0)?;
            ensure!(hand.variant == variant.id, "the variant is {}", hand.variant);
            check(&text, &hand)
        };
        read().with_context(|| format!("{}/{name}", variant.id))?;
    }
    Ok(())
}

fn words(text: &str, key: &str) -> Result<Vec<String>> {
    let table: toml::Table = toml::from_str(text)?;
    let list = table.get(key).with_context(|| format!("`{key}` is missing"))?;
    let list = list.as_array().with_context(|| format!("`{key}` is no list"))?;
    Ok(list.iter().filter_map(toml::Value::as_str).map(str::to_owned).collect())
}

fn replayed(hand: &HandHistory) -> Result<Report> {
    Ok(history::report(&history::replay(hand)?))
}

#[test]
fn every_variant_has_enough_of_them() -> Result<()> {
    let variants: Vec<&str> = rules::ALL.iter().map(|variant| variant.id).collect();
    let mut folders = names(&folder())?;
    // The folder also holds the audit's files: hands with their proofs, those that are judged together,
    // and hostile files; the cases of `caps.rs`; a recorded request to each public method; and stored
    // events and snapshots.
    let others = ["bundles", "several", "hostile", "caps.json", "requests", "events", "snapshots"];
    folders.retain(|name| !others.contains(&name.as_str()));
    assert_eq!(folders, variants);
    for variant in rules::ALL {
        let names = names(&folder().join(variant.id))?;
        assert!(names.len() >= ENOUGH, "{} has {}", variant.id, names.len());
        let mut last = 0;
        for name in &names {
            let (number, rest) = name.split_once('-').unwrap_or((name, ""));
            let number: u32 = number.parse().with_context(|| format!("{}/{name}", variant.id))?;
            assert!(rest.ends_with(".shh"), "{}/{name}", variant.id);
            assert!(number > last, "{}/{name}: the number {number} is taken", variant.id);
            last = number;
        }
    }
    Ok(())
}

#[test]
fn every_one_states_its_end_and_the_replay_agrees() -> Result<()> {
    for variant in rules::ALL {
        each(variant, |text, hand| {
            ensure!(text.starts_with("# "), "the first line says what is shown");
            ensure!(text.lines().all(|line| line.len() <= 140), "a line is too long");
            ensure!(hand.settlement.is_some() && hand.finishing_stacks.is_some(), "no end");
            ensure!(hand.finishing_sabacc_pot.is_some() == variant.has_sabacc_pot, "sabacc pot");
            ensure!(hand.finishing_carried_pot.is_some() == variant.has_carried_pot, "carried");
            let report = replayed(hand)?;
            ensure!(report.complete, "the hand is not over");
            let rank = |hand: &history::FinalHand| hand.rank.clone().unwrap_or("null".to_owned());
            let ranks: Vec<String> = report.hands.iter().map(rank).collect();
            ensure!(words(text, "_ranks")? == ranks, "the replay gives the ranks {ranks:?}");
            let winners = &report.winners;
            ensure!(words(text, "_winners")? == *winners, "the replay gives {winners:?}");
            Ok(())
        })?;
    }
    Ok(())
}

/// Changes of a settlement, a finishing stack or a pot must be detected; otherwise the hands prove
/// nothing.
#[test]
fn none_of_them_can_be_changed_unnoticed() -> Result<()> {
    for variant in rules::ALL {
        each(variant, |_, hand| {
            let refused = |change: &dyn Fn(&mut HandHistory)| {
                let mut changed = hand.clone();
                change(&mut changed);
                changed == *hand
                    || history::replay(&changed).is_err_and(|broken| broken.action == 0)
            };
            let line = "p1 wins main 1".to_owned();
            ensure!(refused(&|hand| hand.settlement.get_or_insert_default().push(line.clone())));
            ensure!(refused(&|hand| drop(hand.settlement.get_or_insert_default().pop())));
            ensure!(
                refused(&|hand| hand.finishing_stacks.get_or_insert_default().reverse())
                    || hand
                        .finishing_stacks
                        .as_ref()
                        .is_some_and(|stacks| { stacks.iter().eq(stacks.iter().rev()) })
            );
            let one = primitives::Credits::of(1);
            let more = |pot: &mut Option<primitives::Credits>| {
                *pot = pot.and_then(|pot| pot.plus(one).ok());
            };
            ensure!(refused(&|hand| more(&mut hand.finishing_sabacc_pot)));
            ensure!(refused(&|hand| more(&mut hand.finishing_carried_pot)));
            Ok(())
        })?;
    }
    Ok(())
}

#[test]
fn every_form_of_settlement_line_is_shown() -> Result<()> {
    let mut shown = String::new();
    for variant in rules::ALL {
        for name in names(&folder().join(variant.id))? {
            shown.push_str(&fs::read_to_string(folder().join(variant.id).join(name))?);
        }
    }
    for form in [
        " returned ",
        " pays sabacc ",
        " pays sabacc 0 short ",
        " short ",
        " eliminated\"",
        " wins main ",
        " wins side-1 ",
        " wins credits ",
        " wins sabacc ",
        "\"main moves sabacc ",
        "\"side-1 moves sabacc ",
        "\"pot carries ",
        "\"rake ",
    ] {
        assert!(shown.contains(form), "no worked hand shows a line with `{form}`");
    }
    Ok(())
}

#[test]
fn writing_and_reading_them_loses_nothing() -> Result<()> {
    for variant in rules::ALL {
        each(variant, |_, hand| {
            let text = history::write(std::slice::from_ref(hand));
            ensure!(history::read(text.as_bytes())? == [Ok(hand.clone())], "{text}");
            ensure!(history::json::read(&history::json::write(hand))? == *hand);
            Ok(())
        })?;
    }
    Ok(())
}
