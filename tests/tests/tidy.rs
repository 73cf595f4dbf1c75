//! Runs the rules of `src/tidy` on this tree, one test each.

use std::fmt;
use std::process::Command;

use sabacc_tests::tidy::{self, Finding, Tree, arrows, machine, names, registry, sizes};

type Result = std::result::Result<(), Findings>;

/// Failure of a test: prints the findings without a useless backtrace.
struct Findings(String);

impl fmt::Debug for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl From<anyhow::Error> for Findings {
    fn from(error: anyhow::Error) -> Findings {
        Findings(format!("{error:#}"))
    }
}

fn expect_none(findings: &[Finding]) -> Result {
    if findings.is_empty() {
        return Ok(());
    }
    let lines: Vec<String> = findings.iter().map(|finding| format!("  {finding}")).collect();
    Err(Findings(format!("{} to mend:\n{}", findings.len(), lines.join("\n"))))
}

#[test]
fn every_package_says_what_it_knows() -> Result {
    expect_none(&tidy::headers::headers(&Tree::open()?)?)
}

#[test]
fn packages_know_only_whom_they_may() -> Result {
    expect_none(&arrows::arrows(&Tree::open()?, arrows::ROWS)?)
}

#[test]
fn the_table_of_arrows_is_true() -> Result {
    expect_none(&arrows::table(&Tree::open()?, arrows::ROWS)?)
}

#[test]
fn packages_reach_nothing_that_their_row_excludes() -> Result {
    expect_none(&tidy::purity::purity(&Tree::open()?, arrows::ROWS)?)
}

/// Cargo's own word for what packages link, features considered. Parts of an excluded package, such
/// as `sqlx-core`, are excluded too.
#[test]
fn packages_link_nothing_that_their_row_excludes() {
    let ours: Vec<&str> = arrows::ROWS.iter().map(|(name, _, _)| *name).collect();
    for (package, _, outside) in arrows::ROWS {
        let excluded = tidy::purity::excluded(*outside);
        if excluded.is_empty() {
            continue;
        }
        let cargo = option_env!("CARGO").unwrap_or("cargo");
        let tree = Command::new(cargo)
            .args(["tree", "--package", package, "--edges", "normal,build", "--prefix", "none"])
            .args(["--locked", "--offline"])
            .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
            .output()
            .expect("cargo runs");
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let tree = String::from_utf8(tree.stdout).expect("cargo writes UTF-8");
        let linked: Vec<&str> = tree.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(linked.contains(package), "{tree}");
        for name in linked {
            let is_part = |of: &str| !ours.contains(&name) && name.starts_with(&format!("{of}-"));
            let found = excluded.iter().find(|other| name == **other || is_part(other));
            assert_eq!(found, None, "{package} links {name}");
        }
    }
}

#[test]
fn files_are_short() -> Result {
    let tree = Tree::open()?;
    println!("{}", sizes::report(&tree));
    expect_none(&sizes::sizes(&tree))
}

#[test]
fn registries_are_sorted() -> Result {
    expect_none(&registry::registries(&Tree::open()?, registry::KNOWN))
}

#[test]
fn the_database_is_named_in_its_places_only() -> Result {
    expect_none(&names::sql(&Tree::open()?, names::SQL))
}

#[test]
fn grpc_codes_are_named_in_their_places_only() -> Result {
    expect_none(&names::codes(&Tree::open()?, names::CODES))
}

#[test]
fn exceptions_are_about_files_that_exist() -> Result {
    let tree = Tree::open()?;
    expect_none(&names::stale(&tree, names::SQL))?;
    expect_none(&names::stale(&tree, names::CODES))?;
    expect_none(&names::stale(&tree, machine::ALLOWED))
}

#[test]
fn no_file_names_the_machine_it_was_written_on() -> Result {
    expect_none(&machine::machine_paths(&Tree::open()?, machine::ALLOWED))
}

#[test]
fn the_readme_and_ci_run_the_same_tests() -> Result {
    expect_none(&tidy::test_command::test_command(&Tree::open()?))
}

#[test]
fn warnings_name_sections_of_the_runbook_that_there_are() -> Result {
    expect_none(&tidy::runbook::runbook(&Tree::open()?))
}

#[test]
fn citations_name_sections_that_there_are() -> Result {
    expect_none(&tidy::citations::citations(&Tree::open()?))
}

#[test]
fn every_resolution_is_cited_by_a_test() -> Result {
    expect_none(&tidy::citations::resolutions(&Tree::open()?))
}

#[test]
fn what_deploy_sets_is_what_programs_read() -> Result {
    expect_none(&tidy::variables::variables(&Tree::open()?))
}

#[test]
fn what_alarms_ask_for_is_what_programs_report() -> Result {
    expect_none(&tidy::metrics::metrics(&Tree::open()?))
}
