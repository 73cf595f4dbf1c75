//! Effect of each update on a viewer's knowledge.

use proto::common::v1::MoveKind;
use proto::table::v1 as pb;
use proto::table::v1::table_update::What;
use rules::RuleSet;

use super::TableState;

impl TableState {
    pub(super) fn apply_snapshot(&mut self, view: pb::TableView) {
        let hand_no = |view: &pb::TableView| view.hand.as_ref().map_or(0, |hand| hand.hand_no);
        if hand_no(&view) != hand_no(&self.view) {
            self.lines.clear();
        }
        if view.rule_set != self.view.rule_set {
            self.rules = RuleSet::from_canonical(&view.rule_set).ok();
        }
        self.view = view;
        if self.viewer.is_none() {
            self.viewer =
                self.my_seat().and_then(|seat| wire::field::player_id(&seat.player_id).ok());
        }
    }

    pub(super) fn apply_update(&mut self, update: &pb::TableUpdate) {
        self.view.sequence = update.sequence;
        match &update.what {
            Some(What::Seat(changed)) => self.seat_changed(changed),
            Some(What::HandStarted(started)) => self.hand_started(started),
            Some(What::Action(action)) => self.action(action),
            Some(What::HandEnded(ended)) => self.hand_ended(ended),
            Some(What::Closed(pb::TableClosed {})) => self.closed = true,
            Some(What::NextHand(next)) => self.view.next_hand = Some(next.clone()),
            Some(What::Entropy(entropy)) => self.entropy(entropy),
            Some(What::Voided(voided)) => self.voided(voided),
            Some(What::Disabled(changed)) => self.view.disabled.clone_from(&changed.disabled),
            Some(What::Stopped(stopped)) => self.view.stopped.clone_from(&stopped.stopped),
            Some(What::Suspension(changed)) => self.suspension_changed(changed),
            Some(What::Seed(_)) | None => {}
        }
    }

    fn seat_changed(&mut self, changed: &pb::SeatChanged) {
        // [`crate::Watch`] refuses a change that names no seat.
        let Some(seat) = &changed.seat else { return };
        self.view.seats.retain(|taken| taken.seat != seat.seat);
        let mine = self.viewer.is_some_and(|me| wire::field::is_id(&seat.player_id, me));
        if mine {
            self.view.your_seat = if changed.vacated { 0 } else { seat.seat };
            self.view.your_standing.clone_from(&changed.your_standing);
        }
        if !changed.vacated {
            let at = self.view.seats.partition_point(|taken| taken.seat < seat.seat);
            self.view.seats.insert(at, seat.clone());
        }
    }

    fn entropy(&mut self, entropy: &pb::Entropy) {
        self.view.hand_no = entropy.hand_no;
        // The dealer may have committed to the hand after it before it is closed.
        self.view.next_hand.take_if(|next| next.hand_no <= entropy.hand_no);
        self.view.hand.take_if(|hand| hand.hand_no < entropy.hand_no);
        self.view.entropy = Some(entropy.clone());
    }

    fn suspension_changed(&mut self, changed: &pb::SuspensionChanged) {
        let hand_no = changed.hand_no;
        if let Some(open) = self.view.entropy.as_mut().filter(|open| open.hand_no == hand_no) {
            open.suspension.clone_from(&changed.suspension);
        }
        if let Some(hand) = self.view.hand.as_mut().filter(|hand| hand.hand_no == hand_no) {
            hand.suspension.clone_from(&changed.suspension);
            hand.turn.clone_from(&changed.turn);
        }
    }

    /// Ends a void hand, of which nothing is shown any more. Its players have the credits from
    /// before it, as the seats say.
    fn voided(&mut self, voided: &pb::HandVoided) {
        self.view.entropy = None;
        self.view.hand.take_if(|hand| hand.hand_no == voided.hand_no);
    }

    fn hand_started(&mut self, started: &pb::HandStarted) {
        self.lines.clear();
        self.view.hand_no = started.hand_no;
        self.view.your_standing.clone_from(&started.your_standing);
        // Its opening said the rest.
        let opened = self.view.entropy.take().filter(|open| open.hand_no == started.hand_no);
        let opened = opened.unwrap_or_default();
        self.view.hand = Some(pb::HandView {
            hand_no: started.hand_no,
            hand_id: started.hand_id.clone(),
            seats: started.seats.clone(),
            standing: started.standing.clone(),
            turn: started.turn.clone(),
            round: started.round,
            phase: started.phase,
            phase_text: started.phase_text.clone(),
            game_state: started.game_state.clone(),
            commitment: started.commitment.clone(),
            settlement: Vec::new(),
            called_by: 0,
            dealer: opened.commitment,
            rows: started.rows.clone(),
            transcript: started.transcript.clone(),
            roots: Vec::new(),
            chain: started.transcript.clone(),
            suspension: None,
            rule_set: opened.rule_set,
            settings: opened.settings,
        });
    }

    fn action(&mut self, action: &pb::HandAction) {
        if !action.line.is_empty() {
            self.lines.push(action.line.clone());
        }
        let Some(hand) = &mut self.view.hand else { return };
        replace_hands(hand, &action.hands);
        if action.standing.is_some() {
            hand.standing.clone_from(&action.standing);
        }
        hand.turn.clone_from(&action.turn);
        hand.round = action.round;
        hand.phase = action.phase;
        hand.phase_text.clone_from(&action.phase_text);
        hand.called_by = action.called_by;
        if action.game_state.is_some() {
            hand.game_state.clone_from(&action.game_state);
        }
        if !action.chain.is_empty() {
            hand.chain.clone_from(&action.chain);
        }
        hand.roots.extend(action.root.clone());
        let decided = action.decision.as_ref().map(proto::common::v1::Move::kind);
        if let Some(suspension) =
            hand.suspension.as_mut().filter(|_| decided == Some(MoveKind::Void))
        {
            let agreed = &mut suspension.agreed;
            let at = agreed.partition_point(|seat| *seat < action.seat);
            if agreed.get(at) != Some(&action.seat) {
                agreed.insert(at, action.seat);
            }
        }
    }

    fn hand_ended(&mut self, ended: &pb::HandEnded) {
        if let Some(standing) = &ended.standing {
            self.view.sabacc_pot_credits = standing.sabacc_pot_credits;
            self.view.carried_pot_credits = standing.carried_pot_credits;
            for place in &standing.seats {
                let taken = self.view.seats.iter_mut().find(|taken| taken.seat == place.seat);
                if let Some(taken) = taken {
                    taken.stack_credits = place.stack_credits;
                }
            }
        }
        let Some(hand) = &mut self.view.hand else { return };
        replace_hands(hand, &ended.hands);
        hand.standing.clone_from(&ended.standing);
        hand.settlement.clone_from(&ended.settlement);
        hand.turn = None;
        hand.phase = pb::HandPhase::Over.into();
    }
}

/// Replaces cards and ranks of the hands in an update; player ids come only with the start.
fn replace_hands(hand: &mut pb::HandView, seats: &[pb::HandSeat]) {
    for now in seats {
        match hand.seats.iter_mut().find(|place| place.seat == now.seat) {
            Some(place) => {
                place.cards.clone_from(&now.cards);
                place.rank.clone_from(&now.rank);
            }
            None => hand.seats.push(now.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use primitives::PlayerId;

    use super::*;
    use crate::watch::WatchMessage;

    const ME: PlayerId = PlayerId([7; 16]);

    fn seat(seat: u32, player: PlayerId, stack: u64) -> pb::SeatView {
        let state = pb::SeatState::Playing.into();
        pb::SeatView {
            seat,
            player_id: player.to_string(),
            stack_credits: stack,
            state,
            ..pb::SeatView::default()
        }
    }

    fn cards(codes: &[&str]) -> Vec<pb::HeldCard> {
        let held =
            |code: &&str| pb::HeldCard { code: (*code).to_owned(), locked: false, proof: None };
        codes.iter().map(held).collect()
    }

    fn place(seat: u32, codes: &[&str]) -> pb::HandSeat {
        pb::HandSeat { seat, cards: cards(codes), ..pb::HandSeat::default() }
    }

    fn after(updates: Vec<What>) -> TableState {
        let mut state = TableState::new(Some(ME));
        let view = pb::TableView {
            sequence: 4,
            seats: vec![seat(3, PlayerId([3; 16]), 500)],
            ..pb::TableView::default()
        };
        state.apply(&WatchMessage::Snapshot(Box::new(view)));
        for (what, sequence) in updates.into_iter().zip(5..) {
            let update = pb::TableUpdate { sequence, record_time: None, what: Some(what) };
            state.apply(&WatchMessage::Update(Box::new(update)));
        }
        state
    }

    fn sits_down() -> What {
        What::Seat(pb::SeatChanged {
            seat: Some(seat(1, ME, 200)),
            vacated: false,
            your_standing: None,
        })
    }

    fn starts() -> What {
        let seats = vec![
            pb::HandSeat { player_id: ME.to_string(), ..place(1, &[]) },
            pb::HandSeat { player_id: PlayerId([3; 16]).to_string(), ..place(3, &[]) },
        ];
        What::HandStarted(pb::HandStarted { hand_no: 9, seats, ..pb::HandStarted::default() })
    }

    /// Entropy of a hand is shown twice: when it opens and when it is closed. Between them the dealer
    /// may have committed to the hand after it.
    #[test]
    fn a_hand_that_opens_ends_what_was_shown_of_those_before_it_and_nothing_else() {
        let entropy =
            |closed| What::Entropy(pb::Entropy { hand_no: 10, closed, ..pb::Entropy::default() });
        let next = |hand_no| What::NextHand(pb::NextHand { hand_no, ..pb::NextHand::default() });
        let updates = [starts(), next(10), entropy(false), next(11), entropy(true)];
        let shown = |seen: usize| {
            let state = after(updates[..seen].to_vec());
            let view = state.view();
            let next = view.next_hand.as_ref().map(|next| next.hand_no);
            (view.hand.as_ref().map(|hand| hand.hand_no), next)
        };
        assert_eq!(shown(2), (Some(9), Some(10)));
        assert_eq!(shown(3), (None, None));
        assert_eq!(shown(5), (None, Some(11)));
    }

    #[test]
    fn a_seat_taken_after_the_snapshot_is_mine() {
        let state = after(vec![sits_down()]);
        let numbers: Vec<u32> = state.view().seats.iter().map(|seat| seat.seat).collect();
        assert_eq!(numbers, [1, 3]);
        assert_eq!(state.my_seat().unwrap().stack_credits, 200);
        assert_eq!(state.view().your_seat, 1);
        let left =
            pb::SeatChanged { seat: Some(seat(1, ME, 0)), vacated: true, your_standing: None };
        assert_eq!(after(vec![sits_down(), What::Seat(left)]).my_seat(), None);
    }

    #[test]
    fn a_hand_shows_its_viewers_cards_turns_and_end() {
        let deal = pb::HandAction {
            hand_no: 9,
            line: "d deal p1 S15 F2".to_owned(),
            hands: vec![place(1, &["S15", "F2"]), place(3, &["??", "??"])],
            turn: Some(pb::Turn { seat: 1, turn: 1, ..pb::Turn::default() }),
            phase: pb::HandPhase::Play.into(),
            ..pb::HandAction::default()
        };
        let state = after(vec![sits_down(), starts(), What::Action(deal.clone())]);
        assert_eq!(state.my_cards(), cards(&["S15", "F2"]));
        assert_eq!(state.my_turn().unwrap().turn, 1);
        assert_eq!(state.player_of(3), Some(PlayerId([3; 16])));
        assert_eq!(state.lines(), ["d deal p1 S15 F2"]);
        assert!(state.is_hand_in_play());

        let stands = |seat, stack| pb::SeatStanding {
            seat,
            stack_credits: stack,
            ..pb::SeatStanding::default()
        };
        let ended = pb::HandEnded {
            hand_no: 9,
            standing: Some(pb::Standing {
                sabacc_pot_credits: 30,
                carried_pot_credits: 12,
                seats: vec![stands(1, 260), stands(3, 440)],
                ..pb::Standing::default()
            }),
            ..pb::HandEnded::default()
        };
        let updates = vec![sits_down(), starts(), What::Action(deal), What::HandEnded(ended)];
        let state = after(updates);
        assert_eq!(state.my_seat().unwrap().stack_credits, 260);
        assert_eq!((state.view().sabacc_pot_credits, state.view().carried_pot_credits), (30, 12));
        assert!(!state.is_hand_in_play() && state.turn().is_none());
        assert_eq!(state.my_cards(), cards(&["S15", "F2"]), "nothing told, nothing forgotten");
    }

    #[test]
    fn a_table_is_disabled_until_it_is_enabled() {
        let reason = "a fault".to_owned();
        let disabled = Some(pb::Disabled { reason, with_game: true, ..Default::default() });
        let update =
            |disabled: Option<pb::Disabled>| What::Disabled(pb::DisabledChanged { disabled });
        assert_eq!(after(vec![update(disabled.clone())]).view().disabled, disabled);
        assert_eq!(after(vec![update(disabled), update(None)]).view().disabled, None);
    }

    /// fairness/SPEC.md §3.11, §9.6.
    #[test]
    fn a_hand_that_stands_still_shows_who_has_agreed_to_end_it() {
        let stands = pb::SuspensionChanged {
            hand_no: 9,
            suspension: Some(pb::Suspension::default()),
            ..pb::SuspensionChanged::default()
        };
        let void = |seat| {
            let kind = MoveKind::Void.into();
            let r#move = Some(proto::common::v1::Move { kind, ..Default::default() });
            What::Action(pb::HandAction {
                hand_no: 9,
                seat,
                decision: r#move,
                ..pb::HandAction::default()
            })
        };
        let agreed = vec![sits_down(), starts(), What::Suspension(stands), void(3), void(1)];
        let state = after(agreed.clone());
        assert!(state.is_suspended());
        assert_eq!(state.hand().unwrap().suspension.as_ref().unwrap().agreed, [1, 3]);
        let voided = pb::HandVoided { hand_no: 9, ..pb::HandVoided::default() };
        let state = after(agreed.into_iter().chain([What::Voided(voided)]).collect());
        assert!(!state.is_suspended() && !state.is_hand_in_play());
    }

    #[test]
    fn what_is_due_comes_from_the_rule_set() {
        let dice = rules::variant("dice").unwrap();
        let view = pb::TableView {
            rule_set: RuleSet::defaults(dice).canonical(),
            ..pb::TableView::default()
        };
        let mut state = TableState::new(None);
        assert_eq!(state.due().get(), 1);
        state.apply(&WatchMessage::Snapshot(Box::new(view)));
        assert_eq!(state.due().get(), 10);
    }
}
