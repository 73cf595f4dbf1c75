//! Every column of every table of a schema, and every text in an event.

use eventlog::Event;
use prost_reflect::{DescriptorPool, DynamicMessage, Value};
use proto::event::v1::EventType;
use sqlx::{AssertSqlSafe, Connection as _, PgConnection, Row as _};

/// Value of a row.
pub(crate) struct Cell {
    /// Table and column.
    pub(crate) place: String,
    pub(crate) value: Vec<u8>,
    /// Whether it is text or a number as text.
    pub(crate) is_text: bool,
}

/// Returns every value in a schema, without events of these kinds.
pub(crate) async fn cells(database: &str, schema: &str, without: &[i32]) -> Vec<Cell> {
    let mut connection = PgConnection::connect(database).await.unwrap();
    let columns = sqlx::query(
        "SELECT table_name::text, column_name::text, data_type::text \
         FROM information_schema.columns WHERE table_schema = $1",
    )
    .bind(schema)
    .fetch_all(&mut connection)
    .await
    .unwrap();
    let mut cells = Vec::new();
    for column in columns {
        let [table, name, kind]: [String; 3] = std::array::from_fn(|at| column.get(at));
        if (&table[..], &name[..]) == ("event_groups", "content") {
            // The view `events` shows each of its events.
            continue;
        }
        let bytes = kind == "bytea";
        // A checkpoint is hashes and signatures in base64, which contain any two letters by chance.
        let is_text = !bytes && (&table[..], &name[..]) != ("checkpoints", "note");
        let value = if !bytes {
            format!("convert_to({name:?}::text, 'UTF8')")
        } else {
            format!("{name:?}")
        };
        let kinds = if table == "events" { "NOT kind = ANY($1)" } else { "$1::int[] IS NOT NULL" };
        let select = format!(
            "SELECT {value} FROM {schema:?}.{table:?} WHERE {kinds} AND {name:?} IS NOT NULL"
        );
        let query = sqlx::query_scalar::<_, Vec<u8>>(AssertSqlSafe(select)).bind(without);
        let values = query.fetch_all(&mut connection).await.unwrap();
        let place = format!("{schema}.{table}.{name}");
        let cell = |value| Cell { place: place.clone(), value, is_text };
        cells.extend(values.into_iter().map(cell));
    }
    cells
}

/// The schemas of events.
pub(crate) struct Payloads {
    pool: DescriptorPool,
}

impl Payloads {
    pub(crate) fn new() -> Payloads {
        Payloads { pool: DescriptorPool::decode(proto::DESCRIPTORS).unwrap() }
    }

    /// Returns every text in an event with its place, such as `CardsMoved.cards.card`.
    pub(crate) fn texts(&self, event: &Event) -> Vec<(String, String)> {
        let name = name(event.kind);
        let full = format!("sabacc.event.v1.{name}");
        let schema = self.pool.get_message_by_name(&full).unwrap();
        let message = DynamicMessage::decode(schema, &event.payload[..]).unwrap();
        let unknown = message.unknown_fields().count();
        assert_eq!(unknown, 0, "{name} has fields that nobody knows");
        let mut texts = Vec::new();
        walk(&name, &Value::Message(message), &mut texts);
        texts
    }
}

/// Returns the name of an event kind: `CardsMoved` for 13.
pub(crate) fn name(kind: u16) -> String {
    wire::records::event_name(EventType::try_from(i32::from(kind)).unwrap())
}

fn walk(place: &str, value: &Value, texts: &mut Vec<(String, String)>) {
    match value {
        Value::String(text) => texts.push((place.to_owned(), text.clone())),
        Value::Message(message) => {
            for (field, value) in message.fields() {
                walk(&format!("{place}.{}", field.name()), value, texts);
            }
        }
        Value::List(values) => values.iter().for_each(|value| walk(place, value, texts)),
        Value::Map(values) => values.values().for_each(|value| walk(place, value, texts)),
        _ => {}
    }
}
