//! The interface to the kernel's C code (`kernel/cwndlab.h`). The kernel has one processor and calls from one
//! context at a time, with soft interrupts off, so there is one run and no concurrent access to it.

#![allow(unsafe_code)]

use crate::controller::{CAck, CControl, CFacts};
use crate::facts::{Counts, Facts};
use crate::line::Socket;
use crate::network::{Sent, Way};
use crate::queue;
use crate::request::Request;
use crate::run::{Lane, Run};
use cwndlab_cc::{Registry, Span, Time};
use cwndlab_lab::Extension;
use cwndlab_lab::linux::PREFIX;
use cwndlab_sim::packet::EcnField;
use cwndlab_sim::tcp::LossDetection;
use std::cell::UnsafeCell;
use std::fs;
use std::os::fd::FromRawFd;
use std::process::exit;

/// Memory of the host, not of the kernel: Rust's data is not part of the simulated system.
#[global_allocator]
static HOST: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

/// The environment variable that names the file with the request.
const REQUEST: &str = "CWNDLAB_REQUEST";
/// The environment variable with the descriptor of the socket to the front end.
const LINE: &str = "CWNDLAB_LINE";
/// Length of the name of a congestion control in the kernel (TCP_CA_NAME_MAX).
const NAME: usize = 16;
/// The congestion control of the kernel that asks the controllers here (CW_OURS).
const OURS: &str = "cwndlab";
/// Stands for "none" in numbers passed to C.
const NONE: u64 = u64::MAX;

unsafe extern "C" {
    /// Frees a packet that the links lost.
    fn cwk_free(packet: usize);
    /// Sets CE in a packet's IP header.
    fn cwk_mark(packet: usize);
    /// Reads the state of a part's sending socket.
    fn cwk_look(part: u32, facts: *mut Facts);
}

#[cfg(feature = "extended")]
unsafe extern "Rust" {
    /// The extension of a user's crate; the project that `python/cwndlab/linux/extension.py` writes defines it.
    safe fn cwndlab_extension() -> Extension;
}

/// The default: nothing is added.
#[cfg(not(feature = "extended"))]
fn cwndlab_extension() -> Extension {
    Extension::default()
}

struct TheRun(UnsafeCell<Option<Run>>);

// SAFETY: there is one processor, and no call is interrupted by another.
unsafe impl Sync for TheRun {}

static RUN: TheRun = TheRun(UnsafeCell::new(None));

fn run() -> &'static mut Run {
    // SAFETY: as above; the reference ends with the call.
    unsafe { (*RUN.0.get()).as_mut() }.expect("cw_prepare comes first")
}

/// Reports an error on the console and ends the process.
fn fail(message: &str) -> ! {
    eprintln!("cwndlab: {message}");
    exit(1)
}

/// The socket that the front end has passed on.
fn line() -> Socket {
    let Ok(number) = std::env::var(LINE) else { return Socket::default() };
    let number =
        number.parse().unwrap_or_else(|_| fail(&format!("expected a number in {LINE}, found {number}")));
    // SAFETY: the front end opened it for this process, and this is called once.
    Socket::open(unsafe { fs::File::from_raw_fd(number) })
}

/// What a lane carries, as C needs it. `struct cw_flow`.
#[repr(C)]
pub struct CFlow {
    name: [u8; NAME],
    start_ns: u64,
    stop_ns: u64,
    mtu: u64,
    initial_window: u64,
    rto_min_us: u64,
    receive_buffer: u64,
    send_buffer: u64,
    write_size: u64,
    sack_compression_ns: u64,
    first_part: u32,
    parts: u32,
    sack: u8,
    timestamps: u8,
    ecn: u8,
    window_tuning: u8,
    tail_loss_probe: u8,
    rack: u8,
    window_validation: u8,
    pacing: u8,
    ack_each: u8,
    multipath: u8,
    scheduler: u8,
    repeats: u8,
    counts_marks: u8,
}

impl CFlow {
    fn of(lane: &Lane, start: Time) -> Self {
        let spec = &lane.spec;
        let tcp = &spec.kind.tcp;
        let mut name = [0; NAME];
        let given = spec.kind.algorithm.name.strip_prefix(PREFIX).unwrap_or(OURS).as_bytes();
        name[..given.len()].copy_from_slice(given);
        Self {
            name,
            start_ns: start.0,
            stop_ns: spec.active.stop.map_or(NONE, |stop| stop.0),
            mtu: tcp.mss + tcp.header,
            initial_window: tcp.initial_window,
            rto_min_us: tcp.rto_min.0 / Span::from_micros(1).0,
            receive_buffer: tcp.receive_buffer,
            send_buffer: tcp.send_buffer,
            write_size: tcp.write_size,
            sack_compression_ns: tcp.sack_compression.0,
            first_part: lane.first_part as u32,
            parts: spec.paths.len() as u32,
            sack: tcp.sack.into(),
            timestamps: tcp.timestamps.into(),
            ecn: (tcp.ecn || lane.counts_marks()).into(),
            window_tuning: tcp.window_tuning.into(),
            tail_loss_probe: tcp.tail_loss_probe.into(),
            rack: (tcp.loss_detection == LossDetection::Rack).into(),
            window_validation: tcp.window_validation.into(),
            pacing: tcp.pacing.into(),
            ack_each: (tcp.delayed_ack == 1).into(),
            multipath: spec.multipath.is_some().into(),
            scheduler: spec.multipath.as_ref().map_or(0, |options| options.scheduler as u8),
            repeats: lane.repeats.into(),
            counts_marks: lane.counts_marks().into(),
        }
    }
}

/// A packet that comes out of the links. `struct cw_arrival`.
#[repr(C)]
pub struct CArrival {
    packet: usize,
    part: u32,
    way: u32,
}

/// Reads the request; returns the number of lanes, and writes the number of their parts to `parts`.
///
/// # Safety
/// `parts` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_prepare(parts: *mut u32) -> u32 {
    let path = std::env::var(REQUEST).unwrap_or_else(|_| fail(&format!("expected {REQUEST}, found nothing")));
    let text = fs::read_to_string(&path).unwrap_or_else(|error| fail(&format!("{path}: {error}")));
    let (mut registry, mut queues) = (Registry::built_in(), queue::all());
    cwndlab_extension().add_to(&mut registry, &mut queues).unwrap_or_else(|error| fail(&error));
    let request = Request::parse(&text, &registry, &queues).unwrap_or_else(|error| fail(&error));
    let mut made = Run::new(request, line());
    made.begin_exports().unwrap_or_else(|error| fail(&error));
    let lanes = made.lanes().len() as u32;
    // SAFETY: the caller guarantees this.
    unsafe { parts.write(made.parts() as u32) };
    // SAFETY: nobody has a reference yet.
    unsafe { *RUN.0.get() = Some(made) };
    lanes
}

/// The duration in nanoseconds.
#[unsafe(no_mangle)]
extern "C" fn cw_duration() -> u64 {
    run().end().0
}

/// Describes a lane.
///
/// # Safety
/// `out` is valid, and there is such a lane.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_lane(lane: u32, out: *mut CFlow) {
    let run = run();
    let lane = lane as usize;
    let described = CFlow::of(&run.lanes()[lane], run.start(lane));
    // SAFETY: the caller guarantees this.
    unsafe { out.write(described) };
}

/// A transfer of a lane begins; returns its bytes.
#[unsafe(no_mangle)]
extern "C" fn cw_begin(lane: u32) -> u64 {
    run().begin(lane as usize).unwrap_or(NONE)
}

/// A transfer of a lane has ended; returns when the next one starts.
#[unsafe(no_mangle)]
extern "C" fn cw_next_start(now: u64, lane: u32) -> u64 {
    let next = run().follow(Time(now), lane as usize).unwrap_or_else(|error| fail(&error));
    next.map_or(NONE, |start| start.0)
}

/// Where the first slow start of a part ends, in segments.
#[unsafe(no_mangle)]
extern "C" fn cw_initial_ssthresh(part: u32) -> u64 {
    run().initial_ssthresh(part as usize)
}

/// Whether the sender of a part is held back until its packets have left its host.
#[unsafe(no_mangle)]
extern "C" fn cw_holds_back(part: u32) -> bool {
    run().holds_back(part)
}

/// Whether the data of a part are sent with ECT(1).
#[unsafe(no_mangle)]
extern "C" fn cw_sends_ect1(part: u32) -> bool {
    run().sends_ect1(part as usize)
}

fn way(way: u32) -> Way {
    if way == Way::Data as u32 { Way::Data } else { Way::Acks }
}

/// Marks and frees the packets that the links have marked and dropped.
fn settle(run: &mut Run) {
    if let Some(fates) = run.fates() {
        for packet in fates.marked {
            // SAFETY: a packet that the kernel handed over and has not got back.
            unsafe { cwk_mark(packet) };
        }
        for packet in fates.gone {
            // SAFETY: the same, and it is forgotten now.
            unsafe { cwk_free(packet) };
        }
    }
}

/// Whether packets are captured: their checksums must then be right when they are sent.
#[unsafe(no_mangle)]
extern "C" fn cw_captures() -> bool {
    run().captures()
}

/// A packet leaves its end; from now on it belongs to the links, and so does `held`, what its sender is
/// charged for. Its headers begin with the IP header.
///
/// # Safety
/// `headers` has `header_bytes` bytes, at least those of an IP header.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_send(
    now: u64,
    part: u32,
    to: u32,
    packet: usize,
    held: usize,
    bytes: u32,
    payload: u32,
    headers: *const u8,
    header_bytes: u32,
) {
    // SAFETY: the caller guarantees this.
    let headers = unsafe { std::slice::from_raw_parts(headers, header_bytes as usize) };
    let ecn = EcnField::of_tos(headers[1]);
    let sent = Sent { handle: packet, held, part, way: way(to), bytes, payload: payload > 0, ecn };
    let run = run();
    run.send(Time(now), &sent, headers);
    settle(run);
}

/// When `cw_step` is due.
#[unsafe(no_mangle)]
extern "C" fn cw_next_event() -> u64 {
    run().next_event().0
}

/// Processes the first event on the links; the caller knows that one is due. Returns whether a packet arrives.
///
/// # Safety
/// `out` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_step(now: u64, out: *mut CArrival) -> bool {
    let run = run();
    let arrived = run.step(Time(now));
    settle(run);
    let Some(arrival) = arrived else { return false };
    let arrival = CArrival { packet: arrival.handle, part: arrival.part, way: arrival.way as u32 };
    // SAFETY: the caller guarantees this.
    unsafe { out.write(arrival) };
    true
}

/// The application of a receiver has read payload; returns whether there is more to come.
#[unsafe(no_mangle)]
extern "C" fn cw_received(now: u64, lane: u32, bytes: u64) -> bool {
    run().on_received(lane as usize, Time(now), bytes)
}

/// Takes the state of a part's sending socket.
///
/// # Safety
/// `facts` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_look(now: u64, part: u32, facts: *const Facts) {
    // SAFETY: the caller guarantees this.
    run().look(part as usize, Time(now), unsafe { &*facts });
}

/// Takes the counts of the sender's host of a multipath connection.
///
/// # Safety
/// `counts` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_count(lane: u32, counts: *const Counts, reinjected: u64) {
    // SAFETY: the caller guarantees this.
    run().count(lane as usize, unsafe { *counts }, reinjected);
}

/// A connection or subflow with one of our controllers is established; returns the needs of the controller.
///
/// # Safety
/// `facts` and `control` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_new(part: u32, _facts: *const CFacts, control: *mut CControl) -> u32 {
    let made = run().control(part as usize);
    // SAFETY: the caller guarantees this.
    unsafe { control.write(made.control()) };
    made.needs()
}

/// An event that happens at most once a round trip: `enum cw_event`.
///
/// # Safety
/// `facts` and `control` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_event(
    part: u32,
    facts: *const CFacts,
    event: u32,
    idle: u64,
    control: *mut CControl,
) {
    // SAFETY: the caller guarantees this.
    let facts = unsafe { &*facts };
    let decided = run().with_controller(part as usize, |cc, siblings, me| {
        cc.on_event(facts, siblings, me, event, idle);
        cc.control()
    });
    // SAFETY: the caller guarantees this.
    unsafe { control.write(decided) };
}

/// The decision in force; if one is due, the external agent decides first.
fn decided(part: u32, now: Time, due: bool) -> CControl {
    if due {
        let mut facts = Facts::default();
        // SAFETY: the part's socket is calling, and there is room for what it shows.
        unsafe { cwk_look(part, &raw mut facts) };
        run().decide(part as usize, now, &facts);
    }
    run().controller(part as usize).control()
}

/// An ACK has been processed.
///
/// # Safety
/// `facts`, `ack` and `control` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_ack(part: u32, facts: *const CFacts, ack: *const CAck, control: *mut CControl) {
    // SAFETY: the caller guarantees this.
    let (facts, ack) = unsafe { (&*facts, &*ack) };
    let due = run().with_controller(part as usize, |cc, siblings, me| cc.on_ack(facts, siblings, me, ack));
    // SAFETY: the caller guarantees this.
    unsafe { control.write(decided(part, facts.now(), due)) };
}

/// The time has come that a controller asked for.
///
/// # Safety
/// `facts` and `control` are valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_timer(part: u32, facts: *const CFacts, control: *mut CControl) {
    // SAFETY: the caller guarantees this.
    let facts = unsafe { &*facts };
    let due = run().with_controller(part as usize, |cc, siblings, me| cc.on_timer(facts, siblings, me));
    // SAFETY: the caller guarantees this.
    unsafe { control.write(decided(part, facts.now(), due)) };
}

/// Data has just been sent.
///
/// # Safety
/// `facts` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_sent(part: u32, facts: *const CFacts, end_seq: u32, bytes: u32) {
    // SAFETY: the caller guarantees this.
    let facts = unsafe { &*facts };
    run().with_controller(part as usize, |cc, siblings, me| cc.on_sent(facts, siblings, me, end_seq, bytes));
}

/// The kernel has just marked the data from `seq` up to `end_seq` as lost.
///
/// # Safety
/// `facts` is valid.
#[unsafe(no_mangle)]
unsafe extern "C" fn cw_cc_lost(part: u32, facts: *const CFacts, seq: u32, end_seq: u32) {
    // SAFETY: the caller guarantees this.
    let facts = unsafe { &*facts };
    run().with_controller(part as usize, |cc, siblings, me| cc.on_lost(facts, siblings, me, seq, end_seq));
}

/// The same, for connections with any controller.
#[unsafe(no_mangle)]
extern "C" fn cw_lost(now: u64, part: u32, seq: u32, end_seq: u32) {
    run().lost(part as usize, Time(now), seq, end_seq);
}

/// When a controller wants to be called.
#[unsafe(no_mangle)]
extern "C" fn cw_cc_next_timer(part: u32) -> u64 {
    run().controller(part as usize).next_timer().map_or(NONE, |at| at.0)
}

/// When all sockets are to be looked at.
#[unsafe(no_mangle)]
extern "C" fn cw_next_look() -> u64 {
    run().next_look().0
}

/// All sockets have been looked at.
#[unsafe(no_mangle)]
extern "C" fn cw_after_looks(now: u64) {
    let run = run();
    if let Some(done) = run.after_looks(Time(now)) {
        // A front end that has exited needs no progress.
        let _ = fs::write(run.progress_file(), done.to_string());
    }
}

/// The run is over: its result is written, and the process ends.
#[unsafe(no_mangle)]
extern "C" fn cw_finish() -> ! {
    // SAFETY: nobody calls after this.
    let mut run = unsafe { (*RUN.0.get()).take() }.expect("cw_prepare comes first");
    run.end_exports().unwrap_or_else(|error| fail(&error));
    run.check_turns().unwrap_or_else(|error| fail(&error));
    let (path, result) = run.finish();
    if let Err(error) = fs::write(&path, result) {
        fail(&format!("{path}: {error}"));
    }
    exit(0)
}
