//! Conversion of the state of Kessel sabacc.

use proto::table::v1 as pb;
use rules::{
    FixTokens, ImpostorState, KesselPlayerState, KesselState, Player, RevealedHand, ShiftToken,
};

use super::Writer;
use crate::ranks;

impl Writer<'_> {
    pub(super) fn kessel(self, state: &KesselState) -> pb::KesselState {
        let KesselState {
            starter,
            lap,
            sand_discard,
            blood_discard,
            fix_tokens,
            prime_dice,
            standing: _,
            immune: _,
            embargoed: _,
            players,
        } = state;
        let FixTokens { prime, markdown, cook_the_books, major_fraud } = *fix_tokens;
        let places = (0..).map_while(Player::try_new).zip(players);
        pb::KesselState {
            starter_seat: starter.map_or(0, |starter| self.seat(starter)),
            lap: u32::from(*lap),
            sand_discard: self.code_or_empty(*sand_discard),
            blood_discard: self.code_or_empty(*blood_discard),
            prime: prime.map_or(0, u32::from),
            prime_dice: prime_dice.map_or_else(Vec::new, |dice| dice.map(u32::from).to_vec()),
            markdown,
            cook_the_books,
            major_fraud,
            seats: places.map(|(player, place)| self.kessel_seat(state, player, place)).collect(),
        }
    }

    fn kessel_seat(
        self,
        state: &KesselState,
        player: Player,
        place: &KesselPlayerState,
    ) -> pb::KesselSeat {
        let KesselPlayerState { stock, hand_pot, tokens_left, tokens, played, impostors, revealed } =
            place;
        let impostor = |one: &ImpostorState| {
            let ImpostorState { card, dice, value } = *one;
            pb::KesselImpostor {
                card: self.code(card),
                dice: dice.map(u32::from).to_vec(),
                value: value.map_or(0, u32::from),
            }
        };
        let shown = |RevealedHand { cards, rank }: &RevealedHand| pb::RevealedHand {
            cards: self.codes(cards),
            rank: Some(ranks::write(*rank)),
        };
        pb::KesselSeat {
            seat: self.seat(player),
            stock_chips: u32::from(*stock),
            hand_pot_chips: u32::from(*hand_pot),
            tokens_left: u32::from(*tokens_left),
            tokens: numbers(tokens),
            played_tokens: numbers(played),
            standing: state.standing.contains(player),
            immune: state.immune.contains(player),
            embargoed: state.embargoed.contains(player),
            impostors: impostors.iter().map(impostor).collect(),
            revealed: revealed.as_ref().map(shown),
        }
    }
}

fn numbers(tokens: &[ShiftToken]) -> Vec<i32> {
    tokens.iter().map(|token| *token as i32 + 1).collect()
}
