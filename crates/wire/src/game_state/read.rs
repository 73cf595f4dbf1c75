//! Reading of states, for clients that judge hands by the rules.

use primitives::SeatNo;
use proto::table::v1 as pb;
use proto::table::v1::game_state::State;
use rules::{
    Announced, Card, Cards, CoruscantState, Deck, ElevenState, FixTokens, ForceState, GameState,
    ImpostorState, KesselPlayerState, KesselState, Player, PlayerSet, RevealedHand, Selection,
    ShiftToken, ShiftingState, Side, SpikeState, Suit, SwgState, Target,
};

use crate::field::BadField;
use crate::ranks;

/// Context for reading a state: the deck, and the seats of the hand, p1's first.
#[derive(Clone, Copy)]
pub struct GameStateReader<'a> {
    pub deck: &'static Deck,
    pub seats: &'a [SeatNo],
}

impl GameStateReader<'_> {
    /// Reads a state. Of cards that look alike it takes any.
    pub fn read(self, state: &pb::GameState) -> Result<GameState, BadField> {
        let pb::GameState { state } = state;
        match state {
            Some(State::Coruscant(state)) => self.coruscant(state).map(GameState::Coruscant),
            Some(State::Dice(pb::DiceState { declared_totals })) => {
                self.declared_totals(declared_totals).map(GameState::Dice)
            }
            Some(State::Electronic(pb::ElectronicState { declared_totals })) => {
                self.declared_totals(declared_totals).map(GameState::Electronic)
            }
            Some(State::Eleven(state)) => self.eleven(state).map(GameState::Eleven),
            Some(State::Force(state)) => self.force(state).map(GameState::Force),
            Some(State::Kessel(state)) => self.kessel(state).map(GameState::Kessel),
            Some(State::Spike(pb::SpikeState { top_discard })) => {
                let top_discard = self.card_or_none(top_discard)?;
                Ok(GameState::Spike(SpikeState { top_discard }))
            }
            Some(State::Swg(pb::SwgState { ends_at_seat })) => {
                Ok(GameState::Swg(SwgState { ends_at: self.player(*ends_at_seat)? }))
            }
            None => Err(BadField::new("state", "a game that is not known here")),
        }
    }

    fn coruscant(self, state: &pb::CoruscantState) -> Result<CoruscantState, BadField> {
        let pb::CoruscantState { target, selections } = state;
        let target = target.as_ref().map(|pb::CoruscantTarget { total, suit }| {
            let suit = Suit::ALL.into_iter().find(|known| *known as i32 + 1 == *suit);
            let suit = suit.ok_or_else(|| BadField::new("target.suit", "there is no such suit"));
            Ok(Target { total: small("target.total", *total)?, suit: suit? })
        });
        let selection = |pb::CoruscantSelection { seat, count, cards }: &pb::CoruscantSelection| {
            Ok(Selection {
                player: self.player(*seat)?,
                count: small("selections.count", *count)?,
                cards: self.cards(cards)?,
            })
        };
        let selections = selections.iter().map(selection);
        Ok(CoruscantState {
            target: target.transpose()?,
            selections: selections.collect::<Result<_, BadField>>()?,
        })
    }

    fn declared_totals(self, totals: &[pb::DeclaredTotal]) -> Result<ShiftingState, BadField> {
        let declared = totals.iter().zip(self.seats).map(|(declared, of)| {
            let pb::DeclaredTotal { seat, total } = declared;
            if *seat != u32::from(of.get()) {
                return Err(BadField::new("declared_totals", "all seats, p1 first"));
            }
            small("declared_totals.total", *total)
        });
        Ok(ShiftingState { declared_totals: declared.collect::<Result<_, BadField>>()? })
    }

    fn eleven(self, state: &pb::ElevenState) -> Result<ElevenState, BadField> {
        let pb::ElevenState { wild, clone, stood_seats } = state;
        let face = |code: &str| {
            let at = self.deck.faces().position(|face| face == code);
            let at = at.and_then(|at| u8::try_from(at).ok());
            at.ok_or_else(|| BadField::new("wild", "there is no such card in this deck"))
        };
        let announced = if wild.is_empty() && clone.is_empty() {
            None
        } else {
            Some(Announced { wild: face(wild)?, clone: face(clone)? })
        };
        let stood = stood_seats.iter().map(|seat| self.player(*seat));
        Ok(ElevenState { announced, stood: stood.collect::<Result<_, BadField>>()? })
    }

    fn force(self, state: &pb::ForceState) -> Result<ForceState, BadField> {
        let pb::ForceState { alignments } = state;
        let mut sides = [None; Player::MAX as usize];
        for alignment in alignments {
            let pb::ForceAlignment { seat, side: _ } = alignment;
            let side = match alignment.side() {
                pb::ForceSide::Light => Side::Light,
                pb::ForceSide::Dark => Side::Dark,
                pb::ForceSide::Unspecified => {
                    return Err(BadField::new("alignments.side", "light or dark"));
                }
            };
            sides[self.player(*seat)?.index()] = Some(side);
        }
        Ok(ForceState { sides })
    }

    fn kessel(self, state: &pb::KesselState) -> Result<KesselState, BadField> {
        let pb::KesselState {
            starter_seat,
            lap,
            sand_discard,
            blood_discard,
            prime,
            prime_dice,
            markdown,
            cook_the_books,
            major_fraud,
            seats,
        } = state;
        let starter = (*starter_seat != 0).then(|| self.player(*starter_seat)).transpose()?;
        let prime: u8 = small("prime", *prime)?;
        let those = |is: fn(&pb::KesselSeat) -> bool| {
            let chosen = seats.iter().filter(|place| is(place));
            chosen.map(|place| self.player(place.seat)).collect::<Result<PlayerSet, BadField>>()
        };
        let dice = if prime_dice.is_empty() { None } else { Some(read_dice(prime_dice)?) };
        Ok(KesselState {
            starter,
            lap: small("lap", *lap)?,
            sand_discard: self.card_or_none(sand_discard)?,
            blood_discard: self.card_or_none(blood_discard)?,
            fix_tokens: FixTokens {
                prime: (prime != 0).then_some(prime),
                markdown: *markdown,
                cook_the_books: *cook_the_books,
                major_fraud: *major_fraud,
            },
            prime_dice: dice,
            standing: those(|place| place.standing)?,
            immune: those(|place| place.immune)?,
            embargoed: those(|place| place.embargoed)?,
            players: seats.iter().map(|place| self.kessel_seat(place)).collect::<Result<_, _>>()?,
        })
    }

    fn kessel_seat(self, place: &pb::KesselSeat) -> Result<KesselPlayerState, BadField> {
        let pb::KesselSeat {
            seat: _,
            stock_chips,
            hand_pot_chips,
            tokens_left,
            tokens,
            played_tokens,
            standing: _,
            immune: _,
            embargoed: _,
            impostors,
            revealed,
        } = place;
        let impostor = |pb::KesselImpostor { card, dice, value }: &pb::KesselImpostor| {
            let value: u8 = small("impostors.value", *value)?;
            Ok(ImpostorState {
                card: self.card(card)?,
                dice: read_dice(dice)?,
                value: (value != 0).then_some(value),
            })
        };
        let shown = |pb::RevealedHand { cards, rank }: &pb::RevealedHand| {
            let rank = rank.as_ref().ok_or_else(|| BadField::new("revealed.rank", "missing"))?;
            Ok(RevealedHand { cards: self.cards(cards)?, rank: ranks::read(rank)? })
        };
        Ok(KesselPlayerState {
            stock: small("stock_chips", *stock_chips)?,
            hand_pot: small("hand_pot_chips", *hand_pot_chips)?,
            tokens_left: small("tokens_left", *tokens_left)?,
            tokens: read_tokens(tokens)?,
            played: read_tokens(played_tokens)?,
            impostors: impostors.iter().map(impostor).collect::<Result<_, BadField>>()?,
            revealed: revealed.as_ref().map(shown).transpose()?,
        })
    }

    fn player(self, seat: u32) -> Result<Player, BadField> {
        let index = self.seats.iter().position(|other| u32::from(other.get()) == seat);
        let player = index.and_then(|index| u8::try_from(index).ok()).and_then(Player::try_new);
        player.ok_or_else(|| BadField::new("seat", "nobody in this hand has that seat"))
    }

    fn card(self, code: &str) -> Result<Card, BadField> {
        let card = self.deck.parse(code).nth(0);
        card.ok_or_else(|| BadField::new("card", "there is no such card in this deck"))
    }

    fn card_or_none(self, code: &str) -> Result<Option<Card>, BadField> {
        if code.is_empty() { Ok(None) } else { self.card(code).map(Some) }
    }

    /// Cards of the codes; a repeated code is another copy.
    fn cards(self, codes: &[String]) -> Result<Cards, BadField> {
        let mut cards = Cards::new();
        for code in codes {
            let card = self.deck.parse(code).iter().find(|card| !cards.contains(card));
            cards.push(card.ok_or_else(|| BadField::new("cards", "no such cards in this deck"))?);
        }
        Ok(cards)
    }
}

fn small<T, U: TryFrom<T>>(field: &str, number: T) -> Result<U, BadField> {
    U::try_from(number).map_err(|_| BadField::new(field, "out of range"))
}

fn read_dice(dice: &[u32]) -> Result<[u8; 2], BadField> {
    let two = || BadField::new("dice", "two dice");
    let dice: Vec<u8> = dice.iter().map(|die| small("dice", *die)).collect::<Result<_, _>>()?;
    dice.try_into().map_err(|_| two())
}

fn read_tokens<T: FromIterator<ShiftToken>>(numbers: &[i32]) -> Result<T, BadField> {
    let token = |number: &i32| {
        let known = ShiftToken::ALL.into_iter().find(|token| *token as i32 + 1 == *number);
        known.ok_or_else(|| BadField::new("tokens", "there is no such shift token"))
    };
    numbers.iter().map(token).collect()
}
