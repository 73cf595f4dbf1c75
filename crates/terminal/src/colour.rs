//! Colours by meaning, for what the terminal can show.

use ratatui::style::{Color, Modifier, Style};

/// Colours that a terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Colours {
    /// None: weight, underlines and reversed cells alone.
    None,
    /// The sixteen of the terminal's own scheme.
    Sixteen,
    /// The 256 of xterm's table.
    Indexed,
    /// 24 bits.
    Full,
}

impl Colours {
    /// Colours by the variables `TERM`, `COLORTERM` and `NO_COLOR`, the last of which wins where it is
    /// set to anything (<https://no-color.org>).
    #[must_use]
    pub fn of(term: &str, colorterm: &str, no_color: bool) -> Colours {
        let term = term.to_ascii_lowercase();
        if no_color || matches!(&*term, "" | "dumb") || term.starts_with("vt") {
            Colours::None
        } else if matches!(colorterm, "truecolor" | "24bit") || term.ends_with("-direct") {
            Colours::Full
        } else if term.contains("256") || ["kitty", "alacritty", "foot"].contains(&&*term) {
            Colours::Indexed
        } else {
            Colours::Sixteen
        }
    }
}

/// Meaning of a text's colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Soft,
    Faint,
    /// The one accent: what to do now.
    Accent,
    Good,
    Bad,
    Warn,
    /// Credits.
    Money,
    /// Cards in the field, and the light side.
    Cold,
    /// The dark side.
    Dark,
}

/// Meaning of a ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Background {
    Screen,
    /// Bars and panels in front of the screen.
    Raised,
    /// The table.
    Felt,
    /// The face of a card.
    Card,
    /// Its back.
    Back,
    /// A key that can be pressed.
    Key,
    /// Chosen things, and the seat whose turn it is.
    Chosen,
}

/// Colours of one terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    colours: Colours,
}

/// A colour in 24 bits, in xterm's table, and in the terminal's scheme.
type Shades = ((u8, u8, u8), u8, Color);

const fn ink(tone: Tone) -> Shades {
    match tone {
        Tone::Plain => ((0xf4, 0xee, 0xe3), 255, Color::Reset),
        Tone::Soft => ((0xb9, 0xc4, 0xc2), 250, Color::Gray),
        Tone::Faint => ((0x86, 0x93, 0x95), 245, Color::DarkGray),
        Tone::Accent => ((0xff, 0x86, 0x42), 209, Color::LightYellow),
        Tone::Good => ((0x62, 0xd9, 0xa0), 79, Color::LightGreen),
        Tone::Bad => ((0xff, 0x73, 0x89), 204, Color::LightRed),
        Tone::Warn => ((0xff, 0xd0, 0x72), 221, Color::Yellow),
        Tone::Money => ((0xe6, 0xc0, 0x7a), 180, Color::Yellow),
        Tone::Cold => ((0x6f, 0xe3, 0xff), 81, Color::LightCyan),
        Tone::Dark => ((0xc7, 0x9b, 0xff), 141, Color::LightMagenta),
    }
}

/// A ground, and the ink on it where that is not the screen's.
const fn background(background: Background) -> (Shades, Option<Shades>) {
    const INK: Shades = ((0x21, 0x1a, 0x14), 234, Color::Black);
    match background {
        Background::Screen => (((0x0d, 0x0f, 0x14), 233, Color::Reset), None),
        Background::Raised => (((0x1a, 0x1e, 0x27), 235, Color::Reset), None),
        Background::Felt => (((0x12, 0x49, 0x4b), 23, Color::Reset), None),
        Background::Card => (((0xf6, 0xec, 0xd6), 230, Color::White), Some(INK)),
        Background::Back => {
            (((0x7a, 0x2e, 0x12), 94, Color::Red), Some(((0xc9, 0x6a, 0x3a), 173, Color::Yellow)))
        }
        Background::Key => (((0xff, 0x86, 0x42), 209, Color::Yellow), Some(INK)),
        Background::Chosen => (((0x4a, 0x2c, 0x16), 58, Color::Reset), None),
    }
}

impl Palette {
    #[must_use]
    pub const fn new(colours: Colours) -> Palette {
        Palette { colours }
    }

    /// Whether grounds are distinguished by colour, and not by lines.
    #[must_use]
    pub fn has_backgrounds(self) -> bool {
        self.colours >= Colours::Indexed
    }

    fn colour(self, (red, index, named): Shades) -> Option<Color> {
        match self.colours {
            Colours::None => None,
            Colours::Sixteen => Some(named),
            Colours::Indexed => Some(Color::Indexed(index)),
            Colours::Full => Some(Color::Rgb(red.0, red.1, red.2)),
        }
    }

    /// Style of a text.
    #[must_use]
    pub fn ink(self, tone: Tone) -> Style {
        let style =
            self.colour(ink(tone)).map_or_else(Style::new, |colour| Style::new().fg(colour));
        let mono = self.colours == Colours::None;
        match tone {
            Tone::Accent | Tone::Bad | Tone::Warn if mono => style.add_modifier(Modifier::BOLD),
            Tone::Cold if mono => style.add_modifier(Modifier::UNDERLINED),
            Tone::Faint if mono => style.add_modifier(Modifier::DIM),
            Tone::Plain
            | Tone::Soft
            | Tone::Faint
            | Tone::Accent
            | Tone::Good
            | Tone::Bad
            | Tone::Warn
            | Tone::Money
            | Tone::Cold
            | Tone::Dark => style,
        }
    }

    /// Style of a ground, with the ink on it.
    #[must_use]
    pub fn background(self, on: Background) -> Style {
        let (under, over) = background(on);
        let style = self.colour(under).map_or_else(Style::new, |colour| Style::new().bg(colour));
        let over = over.and_then(|over| self.colour(over));
        let style = over.map_or(style, |colour| style.fg(colour));
        let is_reversed = match self.colours {
            Colours::None => matches!(on, Background::Key | Background::Chosen),
            Colours::Sixteen => on == Background::Chosen,
            Colours::Indexed | Colours::Full => false,
        };
        if is_reversed { style.add_modifier(Modifier::REVERSED) } else { style }
    }

    /// Ground of a row of the felt: lighter in the middle, where the terminal has colours enough.
    #[must_use]
    pub fn felt(self, row: u16, rows: u16) -> Style {
        let flat = self.background(Background::Felt);
        if self.colours != Colours::Full || rows == 0 {
            return flat;
        }
        let (edge, middle) = ((0x0a_u16, 0x2e_u16, 0x33_u16), (0x15_u16, 0x52_u16, 0x52_u16));
        let half = rows.div_ceil(2).max(1);
        let depth = row.min(rows.saturating_sub(1).saturating_sub(row)).min(half);
        let mix =
            |from: u16, to: u16| u8::try_from(from + (to - from) * depth / half).unwrap_or(u8::MAX);
        flat.bg(Color::Rgb(mix(edge.0, middle.0), mix(edge.1, middle.1), mix(edge.2, middle.2)))
    }

    /// Ink of a card's sign on its face: red, black, or the blue of the sharp suits.
    #[must_use]
    pub fn card_ink(self, tone: Tone) -> Style {
        let dark: Shades = match tone {
            Tone::Bad => ((0xb3, 0x17, 0x3a), 125, Color::Red),
            Tone::Good => ((0x14, 0x6c, 0x43), 29, Color::Green),
            Tone::Warn | Tone::Money => ((0x8a, 0x5a, 0x00), 94, Color::Magenta),
            Tone::Cold => ((0x0b, 0x55, 0x8a), 25, Color::Blue),
            Tone::Dark => ((0x5b, 0x2b, 0x91), 54, Color::Magenta),
            Tone::Plain | Tone::Soft | Tone::Faint | Tone::Accent => {
                ((0x21, 0x1a, 0x14), 234, Color::Black)
            }
        };
        let style = self.background(Background::Card);
        self.colour(dark).map_or(style, |colour| style.fg(colour))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_what_the_terminal_says() {
        let check = |term, colorterm, expected| {
            assert_eq!(Colours::of(term, colorterm, false), expected, "{term} {colorterm}");
            assert_eq!(Colours::of(term, colorterm, true), Colours::None, "NO_COLOR wins");
        };
        check("xterm-256color", "truecolor", Colours::Full);
        check("tmux-256color", "", Colours::Indexed);
        check("xterm", "", Colours::Sixteen);
        check("linux", "", Colours::Sixteen);
        check("dumb", "truecolor", Colours::None);
        check("vt100", "", Colours::None);
        check("", "", Colours::None);
    }

    #[test]
    fn without_colours_no_style_has_one() {
        let palette = Palette::new(Colours::None);
        for tone in [Tone::Plain, Tone::Accent, Tone::Bad, Tone::Cold, Tone::Money] {
            let style = palette.ink(tone);
            assert_eq!((style.fg, style.bg), (None, None));
        }
        for background in [
            Background::Screen,
            Background::Felt,
            Background::Card,
            Background::Key,
            Background::Chosen,
        ] {
            let style = palette.background(background);
            assert_eq!((style.fg, style.bg), (None, None));
        }
        assert_eq!(palette.felt(3, 9).bg, None);
    }
}
