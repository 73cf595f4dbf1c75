//! Course of a hand as the stream shows it: promise, closing, transcript, cards, end, seed.

use super::*;

impl Chance {
    pub(super) fn next_hand(&mut self, next: &pb::NextHand) -> Result<(), Box<FairnessViolation>> {
        let hand_no = next.hand_no;
        let in_order = self.sequence.promised(hand_no).map_err(Fault::from);
        self.judge(hand_no, in_order)?;
        self.check_rules(hand_no, &next.rule_set, &next.settings)?;
        self.record_commitment(hand_no, next.commitment.as_ref())?;
        let committed = next.seats.clone();
        self.next_round = Some(EntropyRound { hand_no, roster: None, committed, is_closed: false });
        Ok(())
    }

    pub(super) fn entropy(&mut self, entropy: &pb::Entropy) -> Result<(), Box<FairnessViolation>> {
        let hand_no = entropy.hand_no;
        let in_order = self.sequence.opened(hand_no).map_err(Fault::from);
        self.judge(hand_no, in_order)?;
        self.check_rules(hand_no, &entropy.rule_set, &entropy.settings)?;
        self.record_commitment(hand_no, entropy.commitment.as_ref())?;
        self.next_round.take_if(|next| next.hand_no <= hand_no);
        let known = self.open_round.take().filter(|open| open.hand_no == hand_no);
        // Who sits down later is not in the hand: the roster is fixed when it opens.
        let named = |seat: &u32| (*seat, self.seats.get(seat).copied());
        let announced: Vec<_> = entropy.roster.iter().map(named).collect();
        let roster = known.and_then(|open| open.roster).unwrap_or_else(|| announced.clone());
        let is_same =
            roster.iter().map(|(seat, _)| seat).eq(announced.iter().map(|(seat, _)| seat));
        let fixed = if is_same { Ok(()) } else { Err(V::WrongRows("another roster").into()) };
        self.judge(hand_no, fixed)?;
        let judged = self.check_excluded(&roster);
        self.judge(hand_no, judged)?;
        self.open_round = Some(EntropyRound {
            hand_no,
            roster: Some(roster),
            committed: entropy.seats.clone(),
            is_closed: entropy.closed,
        });
        if !entropy.closed {
            return Ok(());
        }
        let judged = self.close(hand_no, entropy.closing.as_ref());
        if let (Err(_), Some(earlier)) = (&judged, self.closings.get_mut(&hand_no)) {
            earlier.dispute();
        }
        self.judge(hand_no, judged)
    }

    /// Checks the closing of the open hand. What it says is kept first: a signed closing that does
    /// not pass is evidence.
    fn close(
        &mut self,
        hand_no: u64,
        message: Option<&proto::common::v1::Closing>,
    ) -> Result<(), Fault> {
        let message = message.ok_or(V::Missing("the dealer's closing"))?;
        let promise = self.commitments.get(&hand_no).ok_or(V::Missing("a commitment"))?;
        let (context, dealer) = promise.binding();
        let origin = promise.message.origin.clone();
        let closing = HandClosing::try_new(message, context, dealer, &origin, &self.trust)?;
        let kept = self.record.statements(hand_no);
        closing.entries().for_each(|entry| self.keep(hand_no, entry));
        closing.check_only(&kept.map_err(|_| V::Missing("this client's own evidence"))?)?;
        let roster = self.open_round.as_ref().and_then(|open| open.roster.as_deref());
        closing.check_roster(roster.unwrap_or_default())?;
        if let Some(player) = self.player.filter(|_| self.seat != 0) {
            self.check_own_row(hand_no, &closing, player)?;
        }
        self.closings.insert(hand_no, closing);
        Ok(())
    }

    fn check_own_row(
        &mut self,
        hand_no: u64,
        closing: &HandClosing,
        player: PlayerId,
    ) -> Result<(), Fault> {
        let (context, dealer, seat) = (closing.context, closing.dealer, self.seat);
        let own = Place { context, dealer, seat, player }.commitment(&self.secret);
        let part = self.contributions.get(&(hand_no, seat));
        let has_receipt = part.is_some_and(|part| part.receipt.is_some())
            || self.kept_receipts(hand_no, seat, player).commitment.is_some();
        closing.check_own(seat, player, Some(&own), has_receipt)?;
        if closing.row(seat, player).is_some_and(|row| row.commitment.is_none()) {
            self.notices.push(Notice::NotInClosing { hand_no });
        }
        Ok(())
    }

    pub(super) fn hand_started(
        &mut self,
        started: &pb::HandStarted,
    ) -> Result<(), Box<FairnessViolation>> {
        let hand_no = started.hand_no;
        let in_order = self.sequence.opened(hand_no).map_err(Fault::from);
        self.judge(hand_no, in_order)?;
        self.check_repeated(hand_no, &started.commitment)?;
        let closed = if self.closings.contains_key(&hand_no) {
            Ok(())
        } else {
            Err(V::Missing("the dealer's closing").into())
        };
        self.judge(hand_no, closed)?;
        let dealt = DealtHand {
            rows: &started.rows,
            transcript: &started.transcript,
            seats: &started.seats,
            chain: None,
        };
        self.begin_hand(hand_no, &dealt)?;
        self.close_entropy(hand_no);
        self.check_hand(hand_no, |hand| {
            hand.decisions.due(started.turn.as_ref());
            Ok(())
        })
    }

    /// Applies a hand that a snapshot shows, in play or over.
    pub(super) fn apply_hand_view(
        &mut self,
        view: &pb::HandView,
    ) -> Result<(), Box<FairnessViolation>> {
        let hand_no = view.hand_no;
        // It came to nothing before it was dealt, or the table has lost its cards and shows nothing.
        let is_bare = view.seats.is_empty() && view.turn.is_none();
        if view.transcript.is_empty() && (is_bare || view.phase() == pb::HandPhase::Over) {
            self.bare_hand = Some(hand_no);
            return Ok(());
        }
        self.check_rules(hand_no, &view.rule_set, &view.settings)?;
        self.record_commitment(hand_no, view.dealer.as_ref())?;
        let (rows, transcript, seats) = (&view.rows, &view.transcript, &view.seats);
        let chain = Some(&*view.chain);
        self.begin_hand(hand_no, &DealtHand { rows, transcript, seats, chain })?;
        self.check_hand(hand_no, |hand| {
            view.roots.iter().try_for_each(|root| hand.add_root(root))?;
            hand.check_hands(&view.seats)?;
            hand.decisions.hold(&view.seats);
            hand.decisions.due(view.turn.as_ref());
            Ok(())
        })
    }

    /// Checks the entropy rows of a dealt hand, and follows it from then on. A client with a receipt
    /// must find its contribution.
    fn begin_hand(
        &mut self,
        hand_no: u64,
        dealt: &DealtHand<'_>,
    ) -> Result<(), Box<FairnessViolation>> {
        let judged = self.make_hand(hand_no, dealt);
        let hand = match judged {
            Ok(Some(hand)) => hand,
            Ok(None) => return Ok(()),
            Err(fault) => return self.judge(hand_no, Err(fault)),
        };
        self.keep(hand_no, hand.opening().entry());
        self.hands.insert(hand_no, hand);
        if self.hands.len() > MAX_HANDS {
            self.hands.pop_first();
        }
        Ok(())
    }

    /// None if the hand is known already.
    fn make_hand(&mut self, hand_no: u64, dealt: &DealtHand<'_>) -> Result<Option<Hand>, Fault> {
        let DealtHand { rows, transcript, seats, chain } = *dealt;
        if let Some(before) = self.hands.get_mut(&hand_no) {
            if !before.has_transcript(transcript) {
                return Err(V::WrongTranscript.into());
            }
            // The stream was away: what was decided meanwhile is in the records.
            return chain.map_or(Ok(None), |chain| before.decisions.resume(chain).map(|()| None));
        }
        let promise = self.commitments.get(&hand_no).ok_or(V::Missing("a commitment"))?;
        let binding = promise.binding();
        let variant = self.agreed.as_ref().map(|agreed| agreed.variant);
        let kept = self.record.statements(hand_no).unwrap_or_default();
        let own = self.own_place(hand_no, seats);
        let secret = self.secret.clone();
        let mut hand = Hand::try_new(binding, rows, transcript, variant, |transcript, rows| {
            let own = own.map(|place| {
                let mut mine = rows.iter().filter(|row| row.seat == place.seat);
                let own = place.commitment(&secret);
                let has_key = mine.any(|row| row.commitment.matches(&own));
                let key = has_key.then(|| place.key(&secret));
                OwnSeat { seat: place.seat.into(), key }
            });
            let start = match chain {
                Some(chain) => Chain(hand::to_array("the chain of decisions", chain)?),
                None => Chain::new(transcript),
            };
            Ok(Decisions::new(binding.0, start, seats, own, &kept))
        })?;
        if let Some(closing) = self.closings.get(&hand_no) {
            hand.check_closed(closing)?;
        }
        hand.check_seats(seats)?;
        hand.is_dealt_in = own.is_some();
        hand.receipt = self.receipt_of(hand_no).cloned();
        hand.beginning = self.beginning(hand_no, &hand, own.as_ref(), chain.is_none());
        if let Some(place) = own {
            self.check_contribution(hand_no, &place, &hand)?;
        }
        Ok(Some(hand))
    }

    /// Checks that a hand was dealt from what this client has receipts for, also from before a
    /// restart.
    fn check_contribution(
        &mut self,
        hand_no: u64,
        place: &Place,
        hand: &Hand,
    ) -> Result<(), Fault> {
        let Place { seat, player, .. } = *place;
        let KeptReceipts { mut commitment, mut entropy } =
            self.kept_receipts(hand_no, seat, player);
        if let Some(part) = self.contributions.get(&(hand_no, seat)) {
            part.check_has_receipt()?;
            commitment = part.receipt.as_ref().map(|_| part.commitment).or(commitment);
            entropy = part.is_revealed().then_some(part.entropy).or(entropy);
        }
        commitment.map_or(Ok(()), |commitment| {
            hand.check_contribution(seat, player, &commitment, entropy.as_ref())
        })
    }

    /// The player's place in a hand, if they were dealt in.
    fn own_place(&self, hand_no: u64, seats: &[pb::HandSeat]) -> Option<Place> {
        let player = self.player?;
        let mine = seats.iter().find(|seat| wire::field::is_id(&seat.player_id, player))?;
        let (context, dealer) = self.commitments.get(&hand_no)?.binding();
        Some(Place { context, dealer, seat: u8::try_from(mine.seat).ok()?, player })
    }

    pub(super) fn action(&mut self, action: &pb::HandAction) -> Result<(), Box<FairnessViolation>> {
        let hand_no = action.hand_no;
        // Who has seen no snapshot goes on from where another process was.
        let is_known = self.hands.contains_key(&hand_no) || self.bare_hand == Some(hand_no);
        if !is_known && self.agreed.is_some() {
            return self.judge(hand_no, Err(V::Missing("the transcript").into()));
        }
        let is_unchecked = self.unchecked;
        let mut decided = None;
        let judged = self.check_hand(hand_no, |hand| {
            decided = hand.decisions.follow(action)?;
            if is_unchecked {
                return Ok(());
            }
            action.root.as_ref().map_or(Ok(()), |root| hand.add_root(root))?;
            hand.check_cards(&action.cards, &action.proofs)?;
            hand.check_hands(&action.hands)
        });
        if let Some(opening) = decided {
            self.record.add_decision(hand_no, opening.entry());
        }
        judged
    }

    pub(super) fn hand_ended(
        &mut self,
        ended: &pb::HandEnded,
    ) -> Result<(), Box<FairnessViolation>> {
        let in_order = self.sequence.may_end(ended.hand_no).map_err(Fault::from);
        self.judge(ended.hand_no, in_order)?;
        let delay = self.agreed.as_ref().map_or(Duration::ZERO, |agreed| agreed.seed_delay);
        self.number_ended(ended.hand_no, false, delay);
        if self.unchecked {
            return Ok(());
        }
        self.check_hand(ended.hand_no, |hand| hand.check_hands(&ended.hands))
    }

    pub(super) fn voided(&mut self, voided: &pb::HandVoided) -> Result<(), Box<FairnessViolation>> {
        let hand_no = voided.hand_no;
        let in_order = self.sequence.may_end(hand_no).map_err(Fault::from);
        self.judge(hand_no, in_order)?;
        let judged = self.check_abort(voided);
        self.exclude(voided);
        let delay = match voided.cause() {
            // The seed of a burnt number is opened at once.
            AbortCause::Withheld => Duration::ZERO,
            AbortCause::Unspecified | AbortCause::Agreed | AbortCause::Suspended => {
                self.agreed.as_ref().map_or(Duration::ZERO, |agreed| agreed.seed_delay)
            }
        };
        let judged = self.judge(hand_no, judged);
        self.number_ended(hand_no, true, delay);
        self.close_entropy(hand_no);
        if judged.is_ok() && aborts::is_named(voided, self.seat) {
            self.open_withheld(hand_no);
        }
        judged
    }

    fn number_ended(&mut self, hand_no: u64, is_broken: bool, delay: Duration) {
        if self.sequence.ended(hand_no, is_broken) {
            let broken = self.sequence.broken();
            self.notices.push(Notice::ManyBroken { hand_no, broken });
        }
        if let Some(promise) = self.commitments.get(&hand_no) {
            let note = ended_note(self.now, &promise.context);
            self.keep(hand_no, note);
            self.sequence.expect_seed(hand_no, delay);
        }
        if let Err(error) = self.store_ended(hand_no) {
            tracing::error!(table = %self.table, hand_no, %error, "evidence cannot be stored");
        }
    }

    /// Stores what is kept of a number that this client took part in.
    fn store_ended(&mut self, hand_no: u64) -> std::io::Result<()> {
        let mut parts = self.contributions.range((hand_no, 0)..=(hand_no, u8::MAX));
        let is_own =
            parts.next().is_some() || self.hands.get(&hand_no).is_some_and(|hand| hand.is_dealt_in);
        if is_own { self.record.store_hand(hand_no) } else { Ok(()) }
    }

    /// Ends the collection of entropy for this hand and all before it.
    pub(super) fn close_entropy(&mut self, hand_no: u64) {
        self.open_round.take_if(|open| open.hand_no <= hand_no);
        self.next_round.take_if(|next| next.hand_no <= hand_no);
        self.contributions = self.contributions.split_off(&(hand_no, 0));
        self.closings = self.closings.split_off(&hand_no);
        while self.commitments.len() > MAX_HANDS {
            if let Some((forgotten, _)) = self.commitments.pop_first() {
                self.sequence.seed_opened(forgotten);
            }
        }
    }

    fn check_hand(
        &mut self,
        hand_no: u64,
        check: impl FnOnce(&mut Hand) -> Result<(), Fault>,
    ) -> Result<(), Box<FairnessViolation>> {
        let checked = self.hands.get_mut(&hand_no).map_or(Ok(()), check);
        self.judge(hand_no, checked)
    }

    pub(super) fn seed_published(
        &mut self,
        published: &pb::SeedPublished,
    ) -> Result<(), Box<FairnessViolation>> {
        let hand_no = published.hand_no;
        if self.commitments.contains_key(&hand_no) {
            self.sequence.seed_opened(hand_no);
        }
        let judged = if self.unchecked { Ok(None) } else { self.check_seed(published) };
        let judged = judged.map_err(|fault| self.violation(hand_no, fault));
        let judged = judged.map(|checks| {
            if let Some(checks) = checks {
                self.keep_opened(hand_no, checks);
            }
        });
        self.hands.remove(&hand_no);
        self.commitments.remove(&hand_no);
        judged
    }

    /// Checks an opened seed. Returns what it gave again of a hand that is followed.
    fn check_seed(&self, published: &pb::SeedPublished) -> Result<Option<SeedChecks>, Fault> {
        let Some(promise) = self.commitments.get(&published.hand_no) else { return Ok(None) };
        let seed = hand::to_array("a seed", &published.seed)?;
        let seed = fairness::Seed::new(zeroize::Zeroizing::new(seed));
        match (promise.opened_by(&seed), published.refused) {
            (true, true) => Err(V::WronglyRefused.into()),
            (false, true) => Err(V::WrongSeed.attributed_to(PartyAtFault::Dealer)),
            (false, false) => Err(V::WrongSeed.into()),
            (true, false) if !self.may_open(published.hand_no) => Err(V::SeedEarly.into()),
            (true, false) => {
                let hand = self.hands.get(&published.hand_no);
                hand.map(|hand| hand.check_seed(&seed)).transpose()
            }
        }
    }

    /// Whether the seed of a number may be published: it has ended, or its hand may have, of which the
    /// table has lost the cards.
    fn may_open(&self, hand_no: u64) -> bool {
        self.sequence.may_open(hand_no) || self.bare_hand == Some(hand_no)
    }
}

/// Statements of the table about a dealt hand's chance.
#[derive(Clone, Copy)]
struct DealtHand<'a> {
    rows: &'a [proto::common::v1::EntropyRow],
    transcript: &'a [u8],
    seats: &'a [pb::HandSeat],
    /// The chain as a snapshot shows it; none at the hand's start.
    chain: Option<&'a [u8]>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers pass while the stream is away, again and again.
    #[test]
    fn a_snapshot_forgets_what_has_passed() {
        let me = PlayerId([7; 16]);
        let secret = Secret::from_bytes([1; 32]);
        let mut chance = Chance::new(TableId([1; 16]), Some(me), secret, TrustedKeys::default());
        let (context, dealer) = (fairness::Context([1; 32]), fairness::Commitment([2; 32]));
        let rule_set = RuleSet::defaults(rules::ALL[0]).canonical();
        let settings = TableSettings::default().canonical();
        let shown = pb::TableView { rule_set, settings, ..pb::TableView::default() };
        for hand_no in 1..1_000 {
            let place = Place { context, dealer, seat: 1, player: me };
            let part = Contribution::new(&place, &chance.secret);
            chance.contributions.insert((hand_no, 1), part);
            let closing = HandClosing::unsigned(context, dealer);
            chance.closings.insert(hand_no, closing);
            let view = pb::TableView { hand_no, ..shown.clone() };
            chance.apply_snapshot(&view).unwrap();
            assert_eq!((chance.contributions.len(), chance.closings.len()), (1, 1));
        }
    }
}
