package org.opendedup.sar.sdfs.fuse.kernel;

import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.MAX_IO_BYTES;
import static org.opendedup.sar.sdfs.fuse.kernel.Protocol.PAGE_BYTES;

import java.io.IOException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Errno;
import org.opendedup.sar.sdfs.fuse.KernelRequests;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.InitFlag;
import org.opendedup.sar.sdfs.fuse.kernel.Protocol.Opcode;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Answers INIT, the kernel's first request: both sides agree on a version, sizes and features. */
final class InitHandshake {
    /** Features that the service requires. Every kernel since Linux 5.4 has them. */
    private static final int REQUIRED = InitFlag.ASYNC_READ
            | InitFlag.ATOMIC_O_TRUNC
            | InitFlag.BIG_WRITES
            | InitFlag.DO_READDIRPLUS
            | InitFlag.WRITEBACK_CACHE
            | InitFlag.PARALLEL_DIROPS
            | InitFlag.MAX_PAGES
            | InitFlag.NO_OPENDIR_SUPPORT;

    /**
     * Features that are accepted if the kernel offers them. HANDLE_KILLPRIV_V2 saves one request for
     * {@code security.capability} per write(2). With POSIX_ACL the kernel enforces access lists. With DONT_MASK it
     * leaves the umask to this service, because a default list replaces the umask. ASYNC_DIO is not accepted
     * (docs/adr/0155): the kernel would keep pages that are older than such a write.
     */
    private static final int OPTIONAL = InitFlag.EXPORT_SUPPORT
            | InitFlag.DONT_MASK
            | InitFlag.READDIRPLUS_AUTO
            | InitFlag.POSIX_ACL
            | InitFlag.ABORT_ERROR
            | InitFlag.CACHE_SYMLINKS
            | InitFlag.HANDLE_KILLPRIV_V2
            | InitFlag.SETXATTR_EXT;

    /** Requests that the kernel keeps in flight for read-ahead and write-back: 64 MiB at the largest size. */
    private static final int MAX_BACKGROUND = 64;

    /** File systems below this one that may be stacked: backing files lie on one that is not stacked itself. */
    private static final int MAX_STACK_DEPTH = 1;

    private static final Logger LOG = LoggerFactory.getLogger(InitHandshake.class);

    private final Channel channel;
    private final KernelRequests requests;
    private final Request request;
    private final Reply reply;
    private final Passthrough wanted;

    /**
     * @param requests kinds of requests to serve
     * @param wanted whether to accept passthrough if the kernel offers it
     */
    InitHandshake(Channel channel, KernelRequests requests, Passthrough wanted) {
        this.channel = channel;
        this.requests = requests;
        this.wanted = wanted;
        this.request = new Request(channel.requestBuffer());
        this.reply = new Reply(channel.replyBuffer());
    }

    /** @throws IOException if the kernel cannot be served */
    Agreement perform() throws IOException {
        Agreement agreement = null;
        while (agreement == null) {
            int length = channel.receive();
            if (length < 0 || !request.begin(length) || request.opcode() != Opcode.INIT) {
                throw new IOException("the kernel did not begin with FUSE INIT");
            }
            agreement = answer();
        }
        return agreement;
    }

    /** @return null if the kernel will send INIT again, with our major version */
    private @Nullable Agreement answer() throws IOException {
        reply.begin();
        int major = request.takeInt();
        int minor = request.takeInt();
        if (major > Protocol.MAJOR) {
            reply.putInt(Protocol.MAJOR);
            reply.putInt(Protocol.NEWEST_MINOR);
            reply.putZeros(Protocol.INIT_OUT_BYTES - 8);
            send(reply.success(request.unique()));
            return null;
        }
        int readAhead = request.takeInt();
        int offered = request.takeInt();
        String refusal = refusal(major, minor, offered);
        if (refusal != null) {
            channel.send(reply.error(Errno.EPROTO, request.unique()));
            throw new IOException(refusal);
        }
        boolean offersMore = (offered & InitFlag.INIT_EXT) != 0 && request.remaining() >= Integer.BYTES;
        int more = offersMore ? request.takeInt() : 0;
        Passthrough passthrough = wanted.isOn() ? offered(more) : wanted;
        int accepted = offered & (REQUIRED | OPTIONAL) & ~(requests.enforceAccessLists() ? 0 : InitFlag.POSIX_ACL);
        if (passthrough.isOn()) {
            accepted &= ~InitFlag.WRITEBACK_CACHE;
        }
        Agreement agreement = new Agreement(Math.min(minor, Protocol.NEWEST_MINOR), accepted, requests, passthrough);
        putAgreement(agreement, readAhead);
        send(reply.success(request.unique()));
        LOG.info(
                "the kernel speaks FUSE {}.{}; flags offered {}, accepted {}",
                major,
                minor,
                Integer.toHexString(offered),
                Integer.toHexString(agreement.flags()));
        return agreement;
    }

    static Passthrough offered(int more) {
        return (more & InitFlag.PASSTHROUGH) != 0
                ? Passthrough.ON
                : Passthrough.off("this kernel does not offer it; Linux 6.9 or newer can");
    }

    static @Nullable String refusal(int major, int minor, int offered) {
        if (major < Protocol.MAJOR || minor < Protocol.OLDEST_MINOR) {
            return "this kernel speaks FUSE protocol " + major + "." + minor + "; " + Protocol.MAJOR + "."
                    + Protocol.OLDEST_MINOR + " (Linux 5.4) or newer is needed";
        }
        if ((offered & REQUIRED) != REQUIRED) {
            return "this kernel's FUSE lacks features that are needed (flags 0x"
                    + Integer.toHexString(REQUIRED & ~offered) + " of FUSE_INIT)";
        }
        return null;
    }

    /** Fills {@code fuse_init_out}. */
    private void putAgreement(Agreement agreement, int readAhead) {
        reply.putInt(Protocol.MAJOR);
        reply.putInt(agreement.minor());
        reply.putInt(readAhead);
        int more = agreement.passthrough().isOn() ? InitFlag.PASSTHROUGH : 0;
        reply.putInt(agreement.flags() | (more != 0 ? InitFlag.INIT_EXT : 0));
        reply.putShort(MAX_BACKGROUND);
        reply.putShort(MAX_BACKGROUND * 3 / 4);
        reply.putInt(MAX_IO_BYTES);
        reply.putInt(1); // time granularity, ns
        reply.putShort(MAX_IO_BYTES / PAGE_BYTES);
        reply.putShort(0); // map alignment
        reply.putInt(more);
        reply.putInt(agreement.passthrough().isOn() ? MAX_STACK_DEPTH : 0);
        reply.putZeros(24);
    }

    private void send(int length) throws IOException {
        if (!channel.send(length)) {
            throw new IOException("the kernel did not accept the answer to FUSE INIT");
        }
    }
}
