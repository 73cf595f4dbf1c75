//! `sabacc completions` and `sabacc man`: what shells and `man` know of this program.

use std::path::PathBuf;

use anyhow::Context as _;
use clap::{Args, Command};
use clap_complete::Shell;

use crate::output;

#[derive(Args)]
pub(crate) struct CompletionOptions {
    /// The shell to print completions for.
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManualOptions {
    /// Folder to write a page for each command to [default: prints the program's own page].
    folder: Option<PathBuf>,
}

/// Prints the completions of a shell.
pub(crate) fn completions(
    mut program: Command,
    options: &CompletionOptions,
) -> anyhow::Result<bool> {
    output::bytes(&script(&mut program, options.shell))?;
    Ok(true)
}

fn script(program: &mut Command, shell: Shell) -> Vec<u8> {
    let mut script = Vec::new();
    clap_complete::generate(shell, program, "sabacc", &mut script);
    script
}

/// Prints the manual page of the program, or writes one for each command to a folder.
pub(crate) fn manual(program: Command, options: &ManualOptions) -> anyhow::Result<bool> {
    let Some(folder) = &options.folder else {
        let mut page = Vec::new();
        clap_mangen::Man::new(program).render(&mut page)?;
        output::bytes(&page)?;
        return Ok(true);
    };
    std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(program, folder))
        .with_context(|| format!("{}: the pages cannot be written there", folder.display()))?;
    let message = format!("the pages are in {}: read them with `man -l`", folder.display());
    output::line(&message);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, ValueEnum as _};

    use super::*;

    #[test]
    fn every_shell_completes_the_commands() {
        for shell in Shell::value_variants() {
            let script = script(&mut crate::Arguments::command(), *shell);
            let script = String::from_utf8(script).unwrap();
            for word in ["play", "completions", "simulate"] {
                assert!(script.contains(word), "{shell} does not complete {word}");
            }
        }
    }

    #[test]
    fn each_command_has_a_page() {
        let place = tempfile::tempdir().unwrap();
        let options = ManualOptions { folder: Some(place.path().join("man1")) };
        manual(crate::Arguments::command(), &options).unwrap();
        for page in ["sabacc.1", "sabacc-play.1", "sabacc-table-open.1"] {
            let text = std::fs::read_to_string(place.path().join("man1").join(page)).unwrap();
            assert!(text.contains(".SH NAME"), "{page}");
        }
    }
}
