// SPDX-License-Identifier: LGPL-2.1-or-later OR MIT
/*
 * comch_unix.c - links between the devices of the virtual pair
 *
 * A link is a SOCK_SEQPACKET socket: packets stay whole, a process that dies closes it,
 * and what it sent before can still be read. Nothing is left behind in a file system: the
 * names are abstract. They are no secret, so each end asks the kernel who the other one is,
 * and stays with processes of its own user. The name has the user in it, so that others do
 * not meet it, and a hash of domain and server, which may be too long for it; the HELLO
 * has them in full.
 */
#include "comch.h"

#include <errno.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "log.h"

/* The kernel takes as much of it as it grants. */
#define SEND_BUFFER	(1 << 20)

static socklen_t address_of(const struct sed_greeting *greeting, struct sockaddr_un *address)
{
	const uint64_t sum = sed_greeting_hash(greeting);
	int length;

	memset(address, 0, sizeof(*address));
	address->sun_family = AF_UNIX;
	length = snprintf(address->sun_path + 1, sizeof(address->sun_path) - 1,
			  "syncevent-doca/%u/%016llx", geteuid(), (unsigned long long)sum);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)length);
}

static int make_socket(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
}

/* Not the user of the process that has it now, but of the one that connected or listened. */
static bool is_own(int fd)
{
	struct ucred peer;
	socklen_t size = sizeof(peer);

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) && peer.uid == geteuid();
}

/* ---- connections --------------------------------------------------------------------- */

static void poll_conn(struct sed_source *source, uint32_t events)
{
	struct doca_comch_connection *conn = SED_OF(source, struct doca_comch_connection, source);

	if (events & EPOLLOUT) {
		sed_send_more(conn);
		if (TAILQ_EMPTY(&conn->unsent))
			sed_pe_source_events(conn->comch->ctx.pe, source, EPOLLIN);
	}
	(void)sed_conn_poll(conn);
}

static int take_socket(struct doca_comch_connection *conn, int fd)
{
	const int size = SEND_BUFFER;
	int err;

	(void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	conn->source.poll = poll_conn;
	conn->source.fd = fd;
	err = sed_pe_source_add(conn->comch->ctx.pe, &conn->source, EPOLLIN);
	if (!err)
		conn->state = SED_CONN_NEW;
	return err;
}

static doca_error_t unix_connect(struct doca_comch_connection *conn)
{
	struct sockaddr_un address;
	socklen_t size = address_of(&conn->comch->greeting, &address);
	int fd = make_socket(), err = 0;

	if (fd < 0)
		return sed_error(-errno);
	if (connect(fd, (struct sockaddr *)&address, size)) {
		err = errno;
	} else if (!is_own(fd)) {
		SED_WARN("comch %s: the server is another user's", conn->comch->greeting.name);
		err = ECONNREFUSED;
	} else {
		err = -take_socket(conn, fd);
	}
	if (err)
		close(fd);
	if (err == ECONNREFUSED)
		return DOCA_ERROR_NOT_CONNECTED;
	return err == EAGAIN ? DOCA_ERROR_AGAIN : sed_error(-err);
}

static int unix_send(struct doca_comch_connection *conn, const struct sed_packet *packet)
{
	ssize_t sent;

	sent = send(conn->source.fd, &packet->head, packet->length, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (sent >= 0)
		return 0;
	switch (errno) {
	case EAGAIN:
		sed_pe_source_events(conn->comch->ctx.pe, &conn->source, EPOLLIN | EPOLLOUT);
		return -EAGAIN;
	case ENOMEM:
	case ENOBUFS:
		return -ENOMEM;
	default:
		return -EPIPE;
	}
}

static int unix_receive(struct doca_comch_connection *conn)
{
	ssize_t got;

	/* That it was reset is told once, and before what can still be read. */
	do
		got = recv(conn->source.fd, &conn->in.head, SED_PACKET_MAX,
			   MSG_DONTWAIT | MSG_TRUNC);
	while (got < 0 && (errno == EINTR || errno == ECONNRESET));
	if (got < 0 && (errno == EAGAIN || errno == ENOMEM || errno == ENOBUFS))
		return -EAGAIN;
	if (got <= 0)
		return -EPIPE;
	conn->in.length = (size_t)got;	/* may be more than there is room for */
	return 0;
}

static void unix_close(struct doca_comch_connection *conn)
{
	sed_pe_source_del(conn->comch->ctx.pe, &conn->source);
	/* A child of this process may have it open, too. */
	(void)shutdown(conn->source.fd, SHUT_RDWR);
	close(conn->source.fd);
}

/* ---- servers ------------------------------------------------------------------------- */

static void poll_listener(struct sed_source *source, uint32_t events)
{
	struct sed_comch *comch = SED_OF(source, struct sed_comch, listener);
	struct doca_comch_connection *conn;
	int fd = accept4(source->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)events;
	if (fd < 0)
		return;
	conn = is_own(fd) ? sed_comch_incoming(comch) : NULL;
	if (!conn) {
		close(fd);
		return;
	}
	if (take_socket(conn, fd)) {
		close(fd);
		(void)sed_conn_end(conn, DOCA_ERROR_CONNECTION_RESET);
		return;
	}
	/* Its HELLO was sent right behind. */
	(void)sed_conn_poll(conn);
}

static doca_error_t unix_listen(struct sed_comch *comch)
{
	struct sockaddr_un address;
	socklen_t size = address_of(&comch->greeting, &address);
	int fd = make_socket(), err = 0;

	if (fd < 0)
		return sed_error(-errno);
	comch->listener.poll = poll_listener;
	comch->listener.fd = fd;
	if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, SOMAXCONN))
		err = -errno;
	else
		err = sed_pe_source_add(comch->ctx.pe, &comch->listener, EPOLLIN);
	if (err)
		close(fd);
	return err == -EADDRINUSE ? DOCA_ERROR_IN_USE : sed_error(err);
}

static void unix_listening(struct sed_comch *comch, bool on)
{
	sed_pe_source_events(comch->ctx.pe, &comch->listener, on ? EPOLLIN : 0);
}

static void unix_unlisten(struct sed_comch *comch)
{
	sed_pe_source_del(comch->ctx.pe, &comch->listener);
	(void)shutdown(comch->listener.fd, SHUT_RDWR);
	close(comch->listener.fd);
}

const struct sed_link_ops sed_link_unix = {
	.listen = unix_listen,
	.listening = unix_listening,
	.unlisten = unix_unlisten,
	.connect = unix_connect,
	.send = unix_send,
	.receive = unix_receive,
	.close = unix_close,
};
