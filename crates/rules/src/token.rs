//! Kessel's sixteen kinds of shift token, in the order of their list of names.
//!
//! Specification: rules/SPEC.md §12.5.

use std::fmt;

/// A kind of shift token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ShiftToken {
    FreeDraw,
    Refund,
    ExtraRefund,
    Embezzlement,
    GeneralTariff,
    TargetTariff,
    GeneralAudit,
    TargetAudit,
    PrimeSabacc,
    Markdown,
    CookTheBooks,
    MajorFraud,
    Embargo,
    Immunity,
    Exhaustion,
    DirectTransaction,
}

impl ShiftToken {
    pub const ALL: [ShiftToken; 16] = [
        ShiftToken::FreeDraw,
        ShiftToken::Refund,
        ShiftToken::ExtraRefund,
        ShiftToken::Embezzlement,
        ShiftToken::GeneralTariff,
        ShiftToken::TargetTariff,
        ShiftToken::GeneralAudit,
        ShiftToken::TargetAudit,
        ShiftToken::PrimeSabacc,
        ShiftToken::Markdown,
        ShiftToken::CookTheBooks,
        ShiftToken::MajorFraud,
        ShiftToken::Embargo,
        ShiftToken::Immunity,
        ShiftToken::Exhaustion,
        ShiftToken::DirectTransaction,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            ShiftToken::FreeDraw => "free-draw",
            ShiftToken::Refund => "refund",
            ShiftToken::ExtraRefund => "extra-refund",
            ShiftToken::Embezzlement => "embezzlement",
            ShiftToken::GeneralTariff => "general-tariff",
            ShiftToken::TargetTariff => "target-tariff",
            ShiftToken::GeneralAudit => "general-audit",
            ShiftToken::TargetAudit => "target-audit",
            ShiftToken::PrimeSabacc => "prime-sabacc",
            ShiftToken::Markdown => "markdown",
            ShiftToken::CookTheBooks => "cook-the-books",
            ShiftToken::MajorFraud => "major-fraud",
            ShiftToken::Embargo => "embargo",
            ShiftToken::Immunity => "immunity",
            ShiftToken::Exhaustion => "exhaustion",
            ShiftToken::DirectTransaction => "direct-transaction",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<ShiftToken> {
        ShiftToken::ALL.into_iter().find(|token| token.name() == name)
    }
}

impl fmt::Display for ShiftToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
