//! The options of a multipath connection.

cwndlab_cc::words! {
    /// Which subflow gets the next data.
    pub enum Scheduler {
        /// Whichever may send: every subflow always has data while there are any.
        Saturate = "saturate",
        /// The one with the lowest SRTT of those that may send.
        MinRtt = "min-rtt",
        /// Those that may send take turns, a segment each.
        RoundRobin = "round-robin",
        /// Linux's own, which only the Linux backend has.
        Linux = "linux",
    }
}

cwndlab_cc::parameters! {
    /// What `mptcp` of a flow may set.
    pub struct MptcpOptions {
        scheduler: Scheduler = Scheduler::Saturate, "scheduler", Allowed::Word(Scheduler::WORDS), "",
            "which subflow gets the next data: any that may send, the one of these with the lowest SRTT, or each in turn; linux (Linux backend only): the one that will have sent its queue first, before its window has room",
            "not fixed by RFC 8684 section 3.3.8; saturate couples no subflow to another's data";
        push_bursts: bool = false, "push_bursts", Allowed::Flag, "",
            "PSH ends every burst of a subflow, not only what the application writes at a time; with tcp.quick_ack, such a segment is acknowledged at once if no data wait for another path",
            "Linux: the sender since 5.6 (tcp_push in net/mptcp/protocol.c), the receiver of full segments since October 2023 (tcp_measure_rcv_mss, commit 4720852ed9af); the MPTCP kernel before does neither";
    }
}
