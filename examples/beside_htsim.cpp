// TCP flows over one link in csg-htsim, timed: what docs/speed.md compares with `cwndlab bench`.
//
// Build csg-htsim (https://github.com/Broadcom/csg-htsim) as its README says; then, in its folder `sim`:
//
//     g++ -std=c++11 -O3 -I. .../beside_htsim.cpp libhtsim.a -o beside_htsim
//     ./beside_htsim FLOWS MBIT_PER_S ONE_WAY_DELAY_MS SECONDS
//
// Prints the CPU time of the run loop in ns per packet that a receiver got. Every flow is NewReno without SACK and has an
// ssthresh of its share of the bandwidth-delay product, without which the flows would not fill the link.

#include "config.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <vector>

#include "eventlist.h"
#include "network.h"
#include "pipe.h"
#include "queue.h"
#include "tcp.h"

static const double PACKET_BYTES = 1500;

static double thread_cpu_s() {
    timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return spent.tv_sec + spent.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: beside_htsim FLOWS MBIT_PER_S ONE_WAY_DELAY_MS SECONDS\n");
        return 2;
    }
    const int flows = atoi(argv[1]);
    const uint64_t mbit_per_s = atoi(argv[2]);
    const double delay_ms = atof(argv[3]), seconds = atof(argv[4]);
    const double bdp_bytes = mbit_per_s * 1e6 / 8 * 2 * delay_ms / 1000;
    const uint64_t ssthresh_packets = std::max<uint64_t>(2, bdp_bytes / flows / PACKET_BYTES);

    srand(1);
    EventList events;
    events.setEndtime(timeFromSec(seconds));
    Packet::set_packet_size(PACKET_BYTES);
    Queue bottleneck(speedFromMbps(mbit_per_s), bdp_bytes, events, NULL);
    Pipe there(timeFromMs(delay_ms), events), back(timeFromMs(delay_ms), events);
    TcpRtxTimerScanner timeouts(timeFromMs(10), events);
    std::vector<TcpSrc*> senders;
    std::vector<TcpSink*> receivers;
    for (int n = 0; n < flows; n++) {
        TcpSrc* sender = new TcpSrc(NULL, NULL, events);
        TcpSink* receiver = new TcpSink();
        sender->set_ssthresh(ssthresh_packets * PACKET_BYTES);
        timeouts.registerTcp(*sender);
        route_t* data = new route_t();
        data->push_back(&bottleneck);
        data->push_back(&there);
        data->push_back(receiver);
        route_t* acks = new route_t();
        acks->push_back(&back);
        acks->push_back(sender);
        // Several flows start within the first second.
        const simtime_picosec start = flows == 1 ? 0 : simtime_picosec(drand() * timeFromSec(1));
        sender->connect(*data, *acks, *receiver, start);
        senders.push_back(sender);
        receivers.push_back(receiver);
    }

    std::streambuf* shown = std::cout.rdbuf(NULL);  // htsim reports every timeout
    const double began_s = thread_cpu_s();
    while (events.doNextEvent()) {
    }
    const double cpu_s = thread_cpu_s() - began_s;
    std::cout.rdbuf(shown);

    double received_bytes = 0, sent_bytes = 0;
    for (TcpSink* receiver : receivers) received_bytes += receiver->_packets;
    for (TcpSrc* sender : senders) sent_bytes += sender->_packets_sent;
    const double received = received_bytes / PACKET_BYTES;
    printf("%.1f ns per packet, %.0f packets received, %.0f sent, %.3f of the rate\n", cpu_s * 1e9 / received, received,
           sent_bytes / PACKET_BYTES, received_bytes * 8 / (mbit_per_s * 1e6 * seconds));
}
