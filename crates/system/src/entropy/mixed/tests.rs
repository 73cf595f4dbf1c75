use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rand::Rng;
use rand::rngs::{ChaCha20Rng, StdRng};

use super::*;
use crate::entropy::health::Unhealthy;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mode {
    Sound,
    /// Gives an error.
    Mute,
    /// Gives one byte only.
    Stuck,
    /// Gives one byte more often than the others.
    Preferring,
    /// Gives good bytes, the same ones for ever.
    Repeating,
}

#[derive(Debug, thiserror::Error)]
#[error("no bytes")]
struct NoBytes;

/// Fills `out` as a generator of this mode does.
fn give(mode: Mode, sound: &mut StdRng, out: &mut [u8]) -> Result<(), NoBytes> {
    sound.fill_bytes(out);
    match mode {
        Mode::Sound => {}
        Mode::Mute => return Err(NoBytes),
        Mode::Stuck => out.fill(9),
        Mode::Preferring => out.iter_mut().step_by(4).for_each(|byte| *byte = 9),
        Mode::Repeating => StdRng::seed_from_u64(9).fill_bytes(out),
    }
    Ok(())
}

/// The operating system's generator, as the test wants it.
struct System {
    mode: Arc<Mutex<Mode>>,
    sound: StdRng,
    blocks: Arc<AtomicU32>,
}

macro_rules! only_bytes {
    () => {
        fn try_next_u32(&mut self) -> Result<u32, NoBytes> {
            unreachable!("only bytes are drawn")
        }

        fn try_next_u64(&mut self) -> Result<u64, NoBytes> {
            unreachable!("only bytes are drawn")
        }
    };
}

impl TryRng for System {
    type Error = NoBytes;

    only_bytes!();

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoBytes> {
        self.blocks.fetch_add(1, Ordering::Relaxed);
        give(*self.mode.lock().unwrap(), &mut self.sound, out)
    }
}

/// A process's generator with a fault from its first byte on, by the number of a [`Mode`]. Its bytes
/// do not depend on its seed.
struct Process<const MODE: u8>(StdRng);

impl<const MODE: u8> SeedableRng for Process<MODE> {
    type Seed = [u8; 32];

    fn from_seed(_: [u8; 32]) -> Process<MODE> {
        Process(StdRng::seed_from_u64(u64::from(MODE)))
    }
}

impl<const MODE: u8> TryRng for Process<MODE> {
    type Error = NoBytes;

    only_bytes!();

    fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), NoBytes> {
        let mode = match MODE {
            1 => Mode::Mute,
            2 => Mode::Stuck,
            3 => Mode::Preferring,
            4 => Mode::Repeating,
            _ => Mode::Sound,
        };
        give(mode, &mut self.0, out)
    }
}

/// Sources and clocks that a test controls.
#[derive(Clone)]
struct Controls {
    mode: Arc<Mutex<Mode>>,
    blocks: Arc<AtomicU32>,
    process: Arc<AtomicU32>,
    monotonic: Arc<AtomicU64>,
    wall: Arc<AtomicU64>,
}

impl Controls {
    fn set(&self, mode: Mode) {
        *self.mode.lock().unwrap() = mode;
    }

    /// Both clocks run on by so many milliseconds.
    fn run(&self, millis: u64) {
        self.monotonic.fetch_add(millis, Ordering::Relaxed);
        self.wall.fetch_add(millis, Ordering::Relaxed);
    }
}

fn entropy<P>(seed: u64, mode: Mode) -> (MixedEntropy<System, P>, Controls)
where
    P: SeedableRng<Seed = [u8; 32]> + TryRng,
{
    let controls = Controls {
        mode: Arc::new(Mutex::new(mode)),
        blocks: Arc::default(),
        process: Arc::new(AtomicU32::new(1)),
        monotonic: Arc::default(),
        wall: Arc::new(AtomicU64::new(1_700_000_000_000)),
    };
    let system = System {
        mode: Arc::clone(&controls.mode),
        sound: StdRng::seed_from_u64(seed),
        blocks: Arc::clone(&controls.blocks),
    };
    let clocks = controls.clone();
    let now = move || Moment {
        process: clocks.process.load(Ordering::Relaxed),
        monotonic: Duration::from_millis(clocks.monotonic.load(Ordering::Relaxed)),
        wall: Duration::from_millis(clocks.wall.load(Ordering::Relaxed)),
    };
    (MixedEntropy::new(system, now), controls)
}

fn secret<O, P>(entropy: &MixedEntropy<O, P>) -> Result<[u8; 64], EntropyError>
where
    MixedEntropy<O, P>: Entropy,
{
    let mut out = [0; 64];
    entropy.try_fill(&mut out).map(|()| out)
}

fn fault(generator: Generator, fault: impl Into<Fault>) -> EntropyError {
    EntropyError { generator, fault: fault.into() }
}

const FAULTS: [(Mode, Fault); 4] = [
    (Mode::Mute, Fault::NoBytes),
    (Mode::Stuck, Fault::Unhealthy(Unhealthy::Stuck { cutoff: 9 })),
    (Mode::Preferring, Fault::Unhealthy(Unhealthy::Preferred { cutoff: 71 })),
    (Mode::Repeating, Fault::Unhealthy(Unhealthy::Repeated)),
];

/// fairness/SPEC.md §13.1.
#[test]
fn neither_generator_alone_decides() {
    let of = |system, own: bool| match own {
        true => secret(&entropy::<Process<0>>(system, Mode::Sound).0).unwrap(),
        false => secret(&entropy::<Process<7>>(system, Mode::Sound).0).unwrap(),
    };
    assert_eq!(of(1, true), of(1, true), "it is a function of both");
    assert_ne!(of(1, true), of(2, true), "the operating system's counts");
    assert_ne!(of(1, true), of(1, false), "the process's counts");
}

/// fairness/SPEC.md §13.1.
#[test]
fn a_fault_of_the_operating_system_is_latched_and_named() {
    for (mode, expected) in FAULTS {
        let expected = fault(Generator::OperatingSystem, expected);
        let (started, _) = entropy::<ChaCha20Rng>(1, mode);
        assert_eq!(secret(&started), Err(expected), "at the start");

        let (running, controls) = entropy::<ChaCha20Rng>(1, Mode::Sound);
        secret(&running).unwrap();
        controls.set(mode);
        // The proportion is taken over windows of eight blocks.
        let failed = (0..17).find_map(|_| secret(&running).err());
        assert_eq!(failed, Some(expected), "later");
        controls.set(Mode::Sound);
        assert_eq!(secret(&running), Err(expected), "once broken, broken");
        assert_eq!(running.test(), Err(expected));
        let mut out = [1; 100];
        assert_eq!(running.try_fill(&mut out), Err(expected));
        assert_eq!(out, [0; 100], "nothing is left to be taken for a secret");
    }
}

/// fairness/SPEC.md §13.1.
#[test]
fn a_fault_of_the_process_is_latched_and_named() {
    let check = |seen: Result<[u8; 64], EntropyError>, expected: Fault| {
        assert_eq!(seen, Err(fault(Generator::Process, expected)));
    };
    check(secret(&entropy::<Process<1>>(1, Mode::Sound).0), FAULTS[0].1);
    check(secret(&entropy::<Process<2>>(1, Mode::Sound).0), FAULTS[1].1);
    check(secret(&entropy::<Process<3>>(1, Mode::Sound).0), FAULTS[2].1);
    check(secret(&entropy::<Process<4>>(1, Mode::Sound).0), FAULTS[3].1);
}

/// The seeding of the process's generator, as a number of seedings and no secret between them.
fn seeded_again(change: impl Fn(&Controls)) -> bool {
    let (entropy, controls) = entropy::<ChaCha20Rng>(1, Mode::Sound);
    let before = entropy.locked().seeded;
    entropy.fill(&mut [0; 16]);
    change(&controls);
    let drawn = controls.blocks.load(Ordering::Relaxed);
    secret(&entropy).unwrap();
    let again = entropy.locked().seeded != before;
    let drawn = controls.blocks.load(Ordering::Relaxed) - drawn;
    assert_eq!(drawn, if again { 2 } else { 1 }, "a seeding takes fresh bytes");
    assert_eq!(entropy.locked().pool.is_empty(), again, "and nothing made before it is used");
    again
}

/// fairness/SPEC.md §13.1.
#[test]
fn the_process_is_seeded_every_ten_minutes_and_after_a_fork_or_a_resume() {
    assert!(!seeded_again(|controls| controls.run(599_999)));
    assert!(seeded_again(|controls| controls.run(600_000)));
    assert!(seeded_again(|controls| controls.process.store(2, Ordering::Relaxed)));
    let jump = |forward: u64, back: u64| {
        seeded_again(move |controls| {
            controls.run(5_000);
            controls.wall.fetch_add(forward, Ordering::Relaxed);
            controls.wall.fetch_sub(back, Ordering::Relaxed);
        })
    };
    assert!(!jump(0, 0) && !jump(999, 0) && !jump(0, 999));
    assert!(jump(1_000, 0) && jump(0, 1_000) && jump(86_400_000, 0));
}

/// fairness/SPEC.md §13.1.
#[test]
fn a_fault_while_seeding_is_a_fault() {
    let (entropy, controls) = entropy::<ChaCha20Rng>(1, Mode::Sound);
    controls.run(600_000);
    controls.set(Mode::Mute);
    assert_eq!(secret(&entropy), Err(fault(Generator::OperatingSystem, Fault::NoBytes)));
}

/// Two processes with equal memory, as after a fork or a resume of one image, go apart.
#[test]
fn copies_of_a_process_draw_different_bytes() {
    let draw = |fork: Option<u64>| {
        let (entropy, controls) = entropy::<ChaCha20Rng>(1, Mode::Sound);
        entropy.fill(&mut [0; 16]);
        if let Some(fresh) = fork {
            controls.process.store(2, Ordering::Relaxed);
            entropy.locked().system.generator.sound = StdRng::seed_from_u64(fresh);
        }
        let mut out = [0; 16];
        entropy.fill(&mut out);
        (out, secret(&entropy).unwrap())
    };
    assert_eq!(draw(None), draw(None));
    let ((pooled, one), (other_pooled, other)) = (draw(Some(5)), draw(Some(6)));
    assert_ne!(pooled, other_pooled);
    assert_ne!(one, other);
}

/// A log can record that its entropy failed, which takes a salt.
#[test]
fn salts_are_made_of_the_generator_that_is_left() {
    let salts = |entropy: &dyn Entropy| -> Vec<[u8; 16]> {
        (0..200).map(|_| crate::entropy::bytes(entropy)).collect()
    };
    let differ = |mut salts: Vec<[u8; 16]>| {
        salts.sort_unstable();
        salts.dedup();
        assert_eq!(salts.len(), 200);
    };
    let (sound, controls) = entropy::<ChaCha20Rng>(1, Mode::Sound);
    differ(salts(&sound));
    assert!(controls.blocks.load(Ordering::Relaxed) < 30, "a pool serves many");
    controls.set(Mode::Mute);
    secret(&sound).unwrap_err();
    differ(salts(&sound));
    differ(salts(&entropy::<Process<1>>(1, Mode::Sound).0));
}

#[test]
#[should_panic(expected = "no generator gives bytes")]
fn nothing_is_made_of_no_generator() {
    entropy::<ChaCha20Rng>(1, Mode::Mute).0.fill(&mut [0; 16]);
}

#[test]
fn large_requests_are_served() {
    let (entropy, _) = entropy::<ChaCha20Rng>(1, Mode::Sound);
    let mut out = vec![0; 4_000];
    entropy.fill(&mut out);
    assert!(out.chunks(16).all(|chunk| chunk != [0; 16]));
}
