//! Reasons that are recorded of seats, in the code and as recorded.

use primitives::SeatNo;
use proto::event::v1 as pb;

/// Declares an enum of reasons with its one conversion to and from the recorded text.
macro_rules! reasons {
    (
        $(#[$doc:meta])*
        $name:ident { $($(#[$reason_doc:meta])* $reason:ident = $text:literal,)+ }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum $name {
            $($(#[$reason_doc])* $reason,)+
        }

        impl $name {
            const fn text(self) -> &'static str {
                match self {
                    $($name::$reason => $text,)+
                }
            }

            fn parse(text: &str) -> Option<$name> {
                match text {
                    $($text => Some($name::$reason),)+
                    _ => None,
                }
            }
        }
    };
}

reasons! {
    /// Reason for which a player leaves the table.
    LeaveReason {
        /// The player asked for it.
        Asked = "asked",
        /// The seat was not dealt in for too long.
        Idle = "idle",
        /// The wallet bars the player from play.
        Standing = "standing",
    }
}

reasons! {
    /// Reason for which a seat sits out or in.
    SitOutReason {
        /// The player asked for it.
        Asked = "asked",
        /// The player missed three decision clocks in a row.
        Missed = "missed",
        /// The player withheld entropy that they had committed to; or that exclusion is over.
        Excluded = "excluded",
        /// The wallet bars the player from play.
        Standing = "standing",
    }
}

impl LeaveReason {
    /// Record of a player's leaving for this reason.
    pub(crate) fn event(self, seat: SeatNo) -> pb::LeaveAsked {
        let (seat, why) = (u32::from(seat.get()), self.text().to_owned());
        pb::LeaveAsked { seat, why, ..pb::LeaveAsked::default() }
    }

    /// Reason of a record; `None` for a text that this program does not know.
    pub(crate) fn of(event: &pb::LeaveAsked) -> Option<LeaveReason> {
        LeaveReason::parse(&event.why)
    }
}

impl SitOutReason {
    /// Record of a seat's sitting out or in for this reason.
    pub(crate) fn event(self, seat: SeatNo, sitting_out: bool) -> pb::SitOutChanged {
        let why = self.text().to_owned();
        pb::SitOutChanged { seat: u32::from(seat.get()), sitting_out, why }
    }

    /// Reason of a record; `None` for a text that this program does not know.
    pub(crate) fn of(event: &pb::SitOutChanged) -> Option<SitOutReason> {
        SitOutReason::parse(&event.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_is_read_as_it_was_written() {
        let seat = SeatNo::try_new(3).unwrap();
        for (reason, text) in [
            (LeaveReason::Asked, "asked"),
            (LeaveReason::Idle, "idle"),
            (LeaveReason::Standing, "standing"),
        ] {
            let event = reason.event(seat);
            assert_eq!((event.why.as_str(), LeaveReason::of(&event)), (text, Some(reason)));
        }
        for (reason, text) in [
            (SitOutReason::Asked, "asked"),
            (SitOutReason::Missed, "missed"),
            (SitOutReason::Excluded, "excluded"),
            (SitOutReason::Standing, "standing"),
        ] {
            let event = reason.event(seat, true);
            assert_eq!((event.why.as_str(), SitOutReason::of(&event)), (text, Some(reason)));
        }
    }

    #[test]
    fn unknown_reasons_are_accepted() {
        let leave =
            |why: &str| pb::LeaveAsked { seat: 1, why: why.to_owned(), ..Default::default() };
        assert_eq!(LeaveReason::of(&leave("")), None);
        assert_eq!(LeaveReason::of(&leave("other")), None);
        let change =
            |why: &str| pb::SitOutChanged { seat: 1, sitting_out: true, why: why.to_owned() };
        assert_eq!(SitOutReason::of(&change("")), None);
        assert_eq!(SitOutReason::of(&change("other")), None);
    }
}
