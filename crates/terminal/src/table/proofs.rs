//! Proofs of the hand that is shown: a mark on each card, how many cards were proved, and in words
//! what was checked of its chance.

use client::HandProofs;
use client::chance::{ClosingCheck, CommitmentCheck, SeedChecks};
use proto::table::v1 as pb;
use ratatui::layout::Rect;

use super::TableScreen;
use crate::colour::{Background, Tone};
use crate::draw::{Canvas, after, inset, row, rows, text_width};
use crate::text::wrapped;

/// Columns of the panel.
const COLUMNS: u16 = 78;
/// Columns of the subjects.
const SUBJECTS: u16 = 13;

/// Line of the panel: whether it was checked, and what of.
struct Line {
    state: State,
    subject: &'static str,
    text: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Checked,
    /// Not yet, or not by this client.
    Open,
    Wrong,
}

impl TableScreen {
    /// Number of the hand that is shown.
    #[must_use]
    pub fn hand_no(&self) -> Option<u64> {
        self.state.hand().map(|hand| hand.hand_no)
    }

    /// Proofs of the hand that is shown, as they were checked.
    pub(super) fn proofs_shown(&self) -> Option<&HandProofs> {
        let hand_no = self.hand_no()?;
        self.proofs.as_ref().filter(|proofs| proofs.hand_no == hand_no)
    }

    /// Whether a card that is shown was proved.
    pub(super) fn is_proved(&self, card: &pb::HeldCard) -> bool {
        let proof = card.proof.as_ref().filter(|_| card.code != wire::moves::HIDDEN);
        proof.zip(self.proofs_shown()).is_some_and(|(proof, proofs)| proofs.is_proved(proof))
    }

    /// Draws how many of the cards that are shown were proved; nothing where it does not fit.
    pub(super) fn draw_proved(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(hand) = self.state.hand().filter(|_| self.proofs_shown().is_some()) else {
            return;
        };
        let held = hand.seats.iter().flat_map(|seat| &seat.cards);
        let shown: Vec<_> = held.filter(|card| card.code != wire::moves::HIDDEN).collect();
        let proved = shown.iter().filter(|card| self.is_proved(card)).count();
        if shown.is_empty() {
            return;
        }
        let (sign, tone) =
            if proved == shown.len() { ("✓", Tone::Good) } else { ("!", Tone::Bad) };
        let cards = if shown.len() == 1 { "card" } else { "cards" };
        let long = format!("{sign} {proved} of {} {cards} proved", shown.len());
        let short = format!("{sign} {proved}/{}", shown.len());
        if let Some(text) = [long, short].iter().find(|text| text_width(text) <= area.width) {
            canvas.text_right(area, text, canvas.ink(tone));
        }
    }

    /// Draws what was checked of the hand, in words.
    pub(super) fn draw_proofs(&self, canvas: &mut Canvas<'_>, area: Rect) {
        let Some(proofs) = self.proofs_shown() else { return };
        let width = area.width.min(COLUMNS);
        let room = usize::from(width.saturating_sub(SUBJECTS + 6));
        let mut drawn: Vec<(Option<&Line>, String)> = Vec::new();
        let lines = lines(proofs);
        for line in &lines {
            for (at, text) in wrapped(&line.text, room).into_iter().enumerate() {
                drawn.push(((at == 0).then_some(line), text));
            }
        }
        let height = u16::try_from(drawn.len() + 6).unwrap_or(u16::MAX).min(area.height);
        let (x, y) = (area.x + (area.width - width) / 2, area.y + (area.height - height) / 2);
        let frame = Rect { x, y, width, height };
        canvas.fill(frame, canvas.palette.background(Background::Raised));
        canvas.frame(frame, canvas.ink(Tone::Accent));
        let inner = rows(inset(frame, 2), 1, frame.height.saturating_sub(2));
        let title = format!("What this program has checked of hand {}", proofs.hand_no);
        canvas.text(row(inner, 0), &title, canvas.bold(Tone::Accent));
        // The last two rows are an empty one and the foot.
        let body = rows(inner, 2, inner.height.saturating_sub(4));
        for (number, (line, text)) in (0..body.height).zip(&drawn) {
            let at = row(body, number);
            if let Some(line) = line {
                let (sign, tone) = match line.state {
                    State::Checked => ("✓", Tone::Good),
                    State::Open => ("◌", Tone::Warn),
                    State::Wrong => ("✗", Tone::Bad),
                };
                canvas.text(at, sign, canvas.bold(tone));
                canvas.text(after(at, at.x + 2), line.subject, canvas.bold(Tone::Plain));
            }
            canvas.text(after(at, at.x + SUBJECTS + 2), text, canvas.ink(Tone::Soft));
        }
        let foot = "The whole hand: sabacc verify, with its bundle. Any key closes this.";
        let last = row(inner, inner.height.saturating_sub(1));
        canvas.text(
            last,
            &crate::text::cut(foot, usize::from(inner.width)),
            canvas.ink(Tone::Faint),
        );
    }
}

/// Lines of the panel, in the order in which the hand was proved.
fn lines(proofs: &HandProofs) -> Vec<Line> {
    let mut lines = Vec::new();
    if proofs.is_faulty {
        let text = "Something of this hand is not as it must be: the log says what.".to_owned();
        lines.push(Line { state: State::Wrong, subject: "Violation", text });
    }
    lines.push(promise(proofs.commitment));
    lines.push(entropy(proofs));
    lines.push(cards(proofs));
    lines.push(seed(proofs.seed));
    lines
}

fn promise(CommitmentCheck { is_signed, is_earlier }: CommitmentCheck) -> Line {
    let when = if is_earlier {
        "The dealer's commitment to a seed came before the hand was dealt"
    } else {
        "The dealer's commitment to a seed came with the hand, which you joined while it was played"
    };
    let by = if is_signed {
        "its key has signed it"
    } else {
        "no key of the dealer's is known here, so its signature is not checked"
    };
    let state = if is_signed && is_earlier { State::Checked } else { State::Open };
    Line { state, subject: "Promise", text: format!("{when}; {by}.") }
}

fn entropy(proofs: &HandProofs) -> Line {
    let HandProofs { seats, contributions, is_dealt_in, has_own, closing, .. } = proofs;
    let own = match (is_dealt_in, has_own) {
        (true, true) => ", you among them",
        (true, false) if *contributions > 0 => ", you not among them",
        (true | false, _) => "",
    };
    let brought = format!("{contributions} of {seats} players brought a number of their own{own}.");
    let closed = match closing {
        ClosingCheck::Signed => {
            "They are those that the dealer had named, and signed, before they were revealed."
        }
        ClosingCheck::Unsigned => {
            "They are those that the dealer had named before; its signature is not checked."
        }
        ClosingCheck::NotSeen => {
            "You joined later: that the dealer had named them before is not checked."
        }
    };
    let is_checked = *closing == ClosingCheck::Signed && *contributions > 0;
    let state = if is_checked { State::Checked } else { State::Open };
    Line { state, subject: "Entropy", text: format!("{brought} {closed}") }
}

fn cards(proofs: &HandProofs) -> Line {
    let (cards, shuffles) = (proofs.cards.len(), proofs.shuffles);
    if cards == 0 {
        let text = format!(
            "No card was shown to you yet. The dealer has committed to {}.",
            counted(shuffles, "shuffle")
        );
        return Line { state: State::Open, subject: "Cards", text };
    }
    let text = format!(
        "{} that you were shown: each lies where {} had it, to which the dealer had committed.",
        counted(cards, "card"),
        if shuffles == 1 {
            "the shuffle".to_owned()
        } else {
            format!("one of {shuffles} shuffles")
        }
    );
    Line { state: State::Checked, subject: "Cards", text }
}

fn seed(seed: Option<SeedChecks>) -> Line {
    let (state, text) = match seed {
        None => (
            State::Open,
            "Still shut. Once it is opened, after the hand, it must be the promised one and give \
             the cards again."
                .to_owned(),
        ),
        Some(SeedChecks { cards, orders }) => (
            State::Checked,
            format!(
                "Opened: it is the promised one. It gives {} again, and the whole order of {}.",
                if cards == 1 {
                    "the salt of 1 card".to_owned()
                } else {
                    format!("the salts of {cards} cards")
                },
                counted(orders, "first shuffle")
            ),
        ),
    };
    Line { state, subject: "Seed", text }
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("1 {what}") } else { format!("{count} {what}s") }
}
