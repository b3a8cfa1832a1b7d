// SPDX-License-Identifier: MIT OR Apache-2.0
/* The network devices at the ends of a part. What one sends crosses the links of the scenario, which are in Rust. */
#include <linux/hrtimer.h>
#include <linux/if_arp.h>
#include <linux/inet.h>
#include <linux/inetdevice.h>
#include <linux/netdevice.h>
#include <linux/rtnetlink.h>
#include <linux/tcp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include "cwndlab.h"

/* As crates/lab/src/scenario/linux.rs. */
#define MOST_PARTS 8192

struct end {
	u32 part;
	enum cw_way sends;
	bool held_back, ect1;
};

/* The sender's and the receiver's. */
static struct net_device *devices[MOST_PARTS][2];
static struct hrtimer links;
static u64 begun, armed = CW_NONE;
static bool stepping, capturing;

/* When the run began, by the kernel's clock. */
u64 cwndlab_begun(void)
{
	return begun;
}

u64 cwndlab_now(void)
{
	return ktime_get_ns() - begun;
}

void cwk_free(struct sk_buff *packet)
{
	consume_skb(packet);
}

void cwk_mark(struct sk_buff *packet)
{
	IP_ECN_set_ce(ip_hdr(packet));
}

static void arm(void)
{
	u64 next = cw_next_event();

	if (stepping || next == armed)
		return;
	armed = next;
	if (next != CW_NONE)
		hrtimer_start(&links, ns_to_ktime(begun + next), HRTIMER_MODE_ABS_SOFT);
}

/* Bytes of its headers, of IP and TCP. */
static u32 headers_of(const struct sk_buff *packet)
{
	const struct iphdr *ip = ip_hdr(packet);
	const struct tcphdr *tcp = (void *)ip + ip->ihl * 4;

	return ip->ihl * 4 + (ip->protocol == IPPROTO_TCP ? tcp->doff * 4 : 0);
}

static u32 payload_of(const struct sk_buff *packet)
{
	return ip_hdr(packet)->protocol == IPPROTO_TCP ? packet->len - headers_of(packet) : 0;
}

static netdev_tx_t transmit(struct sk_buff *packet, struct net_device *device)
{
	struct end *end = netdev_priv(device);
	struct sk_buff *copy = pskb_copy(packet, GFP_ATOMIC), *held = NULL;
	u32 payload = payload_of(packet);

	if (!copy)
		panic("cwndlab: no memory for a packet");
	if (payload)
		cwndlab_cc_sent(packet, payload);
	/* Linux's TCP marks ECN-capable data as ECT(0) alone (INET_ECN_xmit); other packets stay as they are. */
	if (end->ect1)
		IP_ECN_set_ect1(ip_hdr(copy));
	/* The device leaves checksums out, but a capture shows them. */
	if (capturing && copy->ip_summed == CHECKSUM_PARTIAL)
		cwndlab_expect(skb_checksum_help(copy), "checksum");
	/*
	 * The original goes back to its socket when the device has sent it, as TCP small queues and retransmissions
	 * expect: at once, or when it has left the host's own link.
	 */
	if (end->held_back)
		held = packet;
	else
		consume_skb(packet);
	cw_send(cwndlab_now(), end->part, end->sends, copy, held, copy->len, payload, ip_hdr(copy),
		headers_of(copy));
	arm();
	return NETDEV_TX_OK;
}

static void deliver(const struct cw_arrival *arrival)
{
	struct sk_buff *packet = arrival->packet;

	skb_scrub_packet(packet, true);
	memset(packet->cb, 0, sizeof(packet->cb));
	packet->dev = devices[arrival->part][arrival->way == CW_DATA ? CW_ACKS : CW_DATA];
	packet->protocol = htons(ETH_P_IP);
	packet->pkt_type = PACKET_HOST;
	skb_reset_mac_header(packet);
	cwndlab_arriving(arrival->part, arrival->way, packet);
	netif_receive_skb(packet);
	cwndlab_arrived(arrival->part, arrival->way);
}

static enum hrtimer_restart links_due(struct hrtimer *timer)
{
	u64 now = cwndlab_now();
	struct cw_arrival arrival;

	stepping = true;
	while (cw_next_event() <= now)
		if (cw_step(now, &arrival))
			deliver(&arrival);
	stepping = false;
	armed = cw_next_event();
	if (armed == CW_NONE)
		return HRTIMER_NORESTART;
	hrtimer_set_expires(timer, ns_to_ktime(begun + armed));
	return HRTIMER_RESTART;
}

static const struct net_device_ops operations = { .ndo_start_xmit = transmit };

static void set_up(struct net_device *device)
{
	device->netdev_ops = &operations;
	device->type = ARPHRD_NONE;
	device->flags = IFF_POINTOPOINT | IFF_NOARP;
	device->priv_flags |= IFF_NO_QUEUE;
	/* Checksums are left out; a packet is a segment. */
	device->features = device->hw_features = NETIF_F_HW_CSUM | NETIF_F_SG;
}

struct net_device *cwndlab_device(struct net *net, const char *address, u64 mtu, u32 part, enum cw_way way)
{
	struct net_device *device = alloc_netdev(sizeof(struct end), "cw%d", NET_NAME_ENUM, set_up);
	struct ifreq request = {};
	struct sockaddr_in *set = (void *)&request.ifr_addr;
	struct end *end;

	if (!device || part >= MOST_PARTS)
		panic("cwndlab: no device for part %u", part);
	end = netdev_priv(device);
	end->part = part;
	end->sends = way;
	end->held_back = way == CW_DATA && cw_holds_back(part);
	end->ect1 = way == CW_DATA && cw_sends_ect1(part);
	devices[part][way] = device;
	dev_net_set(device, net);
	device->mtu = mtu;
	netif_set_tso_max_segs(device, 1);
	cwndlab_expect(register_netdev(device), "register_netdev");
	strscpy(request.ifr_name, device->name, IFNAMSIZ);
	set->sin_family = AF_INET;
	set->sin_addr.s_addr = in_aton(address);
	cwndlab_expect(devinet_ioctl(net, SIOCSIFADDR, &request), "address");
	set->sin_addr.s_addr = htonl(0xfffffffc);
	cwndlab_expect(devinet_ioctl(net, SIOCSIFNETMASK, &request), "netmask");
	rtnl_lock();
	cwndlab_expect(dev_change_flags(device, device->flags | IFF_UP, NULL), "up");
	rtnl_unlock();
	return device;
}

void cwndlab_begin(u64 t0)
{
	begun = t0;
	capturing = cw_captures();
	hrtimer_init(&links, CLOCK_MONOTONIC, HRTIMER_MODE_ABS_SOFT);
	links.function = links_due;
	arm();
}
