//! Kessel's sixteen kinds of shift token, in the order of their list of names.

use std::fmt;

/// A kind of shift token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Token {
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

impl Token {
    pub const ALL: [Token; 16] = [
        Token::FreeDraw,
        Token::Refund,
        Token::ExtraRefund,
        Token::Embezzlement,
        Token::GeneralTariff,
        Token::TargetTariff,
        Token::GeneralAudit,
        Token::TargetAudit,
        Token::PrimeSabacc,
        Token::Markdown,
        Token::CookTheBooks,
        Token::MajorFraud,
        Token::Embargo,
        Token::Immunity,
        Token::Exhaustion,
        Token::DirectTransaction,
    ];

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Token::FreeDraw => "free-draw",
            Token::Refund => "refund",
            Token::ExtraRefund => "extra-refund",
            Token::Embezzlement => "embezzlement",
            Token::GeneralTariff => "general-tariff",
            Token::TargetTariff => "target-tariff",
            Token::GeneralAudit => "general-audit",
            Token::TargetAudit => "target-audit",
            Token::PrimeSabacc => "prime-sabacc",
            Token::Markdown => "markdown",
            Token::CookTheBooks => "cook-the-books",
            Token::MajorFraud => "major-fraud",
            Token::Embargo => "embargo",
            Token::Immunity => "immunity",
            Token::Exhaustion => "exhaustion",
            Token::DirectTransaction => "direct-transaction",
        }
    }

    #[must_use]
    pub fn parse(name: &str) -> Option<Token> {
        Token::ALL.into_iter().find(|token| token.name() == name)
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
