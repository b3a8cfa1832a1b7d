// SPDX-License-Identifier: MIT OR Apache-2.0
/* Asks the kernel for what `ip` and `tc` ask it for. */
#include <linux/netlink.h>
#include <net/netlink.h>
#include <net/sock.h>
#include "cwndlab.h"

/* A request with room for a header of this size and attributes behind it. */
struct sk_buff *cwndlab_request(int type, size_t header, int flags)
{
	struct sk_buff *request = nlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);

	if (!request)
		panic("cwndlab: no memory for a request");
	memset(nlmsg_data(nlmsg_put(request, 0, 0, type, header, NLM_F_REQUEST | NLM_F_ACK | flags)), 0, header);
	return request;
}

/* Sends a request, and frees it. */
void cwndlab_ask(struct net *net, int protocol, struct sk_buff *request, const char *what)
{
	struct sockaddr_nl to = { .nl_family = AF_NETLINK };
	struct msghdr message = { .msg_name = &to, .msg_namelen = sizeof(to) }, reply = {};
	struct nlmsghdr *header = nlmsg_hdr(request);
	struct {
		struct nlmsghdr header;
		struct nlmsgerr error;
	} answer = {};
	struct kvec asked = { header }, answered = { &answer, sizeof(answer) };
	struct socket *socket;

	nlmsg_end(request, header);
	asked.iov_len = header->nlmsg_len;
	cwndlab_expect(sock_create_kern(net, AF_NETLINK, SOCK_RAW, protocol, &socket), what);
	if (kernel_sendmsg(socket, &message, &asked, 1, asked.iov_len) < 0 ||
	    kernel_recvmsg(socket, &reply, &answered, 1, sizeof(answer), 0) < 0)
		panic("cwndlab: %s: no answer", what);
	cwndlab_expect(answer.error.error, what);
	sock_release(socket);
	kfree_skb(request);
}
