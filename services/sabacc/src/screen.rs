//! The terminal itself: its keys, its colours, and its state, which is put back however the program
//! ends.
//!
//! A program that draws writes to standard output through [`Screen`] alone.

use std::io::{self, IsTerminal as _, Stdout};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, bail};
use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use terminal::{Colours, Key, Palette};
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc;

/// Longest time until the reader of keys notices that the screen is closed.
const LOOK: Duration = Duration::from_millis(100);

/// Something that the user or the system did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    Key(Key),
    /// The window has another size.
    Resized,
    /// Ctrl-C, or a signal to end.
    Interrupted,
}

/// Terminal that is drawn in.
pub(crate) struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    palette: Palette,
    inputs: mpsc::Receiver<Input>,
    closed: Arc<AtomicBool>,
    terminate: Signal,
    hangup: Signal,
}

/// Whether standard input and output are a terminal that can be drawn in.
pub(crate) fn can_draw() -> bool {
    io::stdout().is_terminal() && io::stdin().is_terminal() && !is_dumb()
}

fn is_dumb() -> bool {
    matches!(&*variable("TERM"), "" | "dumb")
}

#[expect(clippy::disallowed_methods, reason = "the terminal says what it is in the environment")]
fn variable(name: &str) -> String {
    std::env::var_os(name).and_then(|value| value.into_string().ok()).unwrap_or_default()
}

fn palette() -> Palette {
    let is_plain = !variable("NO_COLOR").is_empty();
    Palette::new(Colours::of(&variable("TERM"), &variable("COLORTERM"), is_plain))
}

/// Puts the terminal back. It is tried whole, whatever fails of it.
fn restore() {
    let _ = disable_raw_mode();
    let _ = execute!(io::stdout(), LeaveAlternateScreen, Show);
}

impl Screen {
    /// Takes the terminal, or says why it cannot be drawn in; `instead` is what to do then.
    pub(crate) fn open(instead: &str) -> anyhow::Result<Screen> {
        if !can_draw() {
            bail!("this draws in a terminal, and there is none here: {instead}");
        }
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            before(panic);
        }));
        let (terminate, hangup) = (signal(SignalKind::terminate())?, signal(SignalKind::hangup())?);
        enable_raw_mode().context("the terminal's keys cannot be read")?;
        let opened = execute!(io::stdout(), EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(io::stdout())));
        let terminal =
            opened.inspect_err(|_| restore()).context("the terminal cannot be drawn in")?;
        let closed = Arc::new(AtomicBool::new(false));
        let inputs = read_inputs(Arc::clone(&closed));
        Ok(Screen { terminal, palette: palette(), inputs, closed, terminate, hangup })
    }

    /// Waits for the next input. Cancel-safe.
    pub(crate) async fn input(&mut self) -> Input {
        tokio::select! {
            input = self.inputs.recv() => input.unwrap_or(Input::Interrupted),
            _ = self.terminate.recv() => Input::Interrupted,
            _ = self.hangup.recv() => Input::Interrupted,
        }
    }

    /// Draws the whole screen; what is as it was is not written again.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Buffer, Palette)) -> anyhow::Result<()> {
        let palette = self.palette;
        self.terminal.draw(|frame| draw(frame.buffer_mut(), palette))?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        self.closed.store(true, Ordering::Relaxed);
        restore();
    }
}

/// Reads inputs on a thread of its own, since a terminal is read by waiting for it.
fn read_inputs(closed: Arc<AtomicBool>) -> mpsc::Receiver<Input> {
    let (sender, inputs) = mpsc::channel(64);
    std::thread::spawn(move || {
        while !closed.load(Ordering::Relaxed) {
            let input = match event::poll(LOOK) {
                Ok(false) => continue,
                Ok(true) => event::read().map(|event| input(&event)),
                Err(error) => Err(error),
            };
            let (input, is_end) = match input {
                Ok(input) => (input, false),
                // The terminal is gone.
                Err(_) => (Some(Input::Interrupted), true),
            };
            if input.is_some_and(|input| sender.blocking_send(input).is_err()) || is_end {
                return;
            }
        }
    });
    inputs
}

fn input(event: &Event) -> Option<Input> {
    match event {
        Event::Key(key) if key.kind != KeyEventKind::Release => key_input(*key),
        Event::Resize(..) => Some(Input::Resized),
        Event::Key(_)
        | Event::FocusGained
        | Event::FocusLost
        | Event::Mouse(_)
        | Event::Paste(_) => None,
    }
}

fn key_input(key: KeyEvent) -> Option<Input> {
    let is_control = key.modifiers.contains(KeyModifiers::CONTROL);
    #[expect(clippy::wildcard_enum_match_arm, reason = "most of a keyboard does nothing here")]
    let key = match key.code {
        KeyCode::Char('c' | 'd') if is_control => return Some(Input::Interrupted),
        KeyCode::Char(_) if is_control || key.modifiers.contains(KeyModifiers::ALT) => return None,
        KeyCode::Char(letter) => Key::Char(letter),
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        _ => return None,
    };
    Some(Input::Key(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_c_interrupts_and_other_control_keys_do_nothing() {
        let key = |letter, modifiers| key_input(KeyEvent::new(KeyCode::Char(letter), modifiers));
        assert_eq!(key('c', KeyModifiers::CONTROL), Some(Input::Interrupted));
        assert_eq!(key('c', KeyModifiers::NONE), Some(Input::Key(Key::Char('c'))));
        assert_eq!(key('L', KeyModifiers::SHIFT), Some(Input::Key(Key::Char('L'))));
        assert_eq!(key('x', KeyModifiers::ALT), None);
    }
}
