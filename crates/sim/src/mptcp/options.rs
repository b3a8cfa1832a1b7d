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
            "with tcp.quick_ack, the last segment of each burst of a subflow is acknowledged at once: PSH ends every burst, not only what the application writes at a time",
            "Linux has it since 5.6 (tcp_push in net/mptcp/protocol.c); the MPTCP kernel before had not (mptcp_write_xmit)";
    }
}
