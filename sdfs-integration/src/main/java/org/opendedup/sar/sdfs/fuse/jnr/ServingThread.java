package org.opendedup.sar.sdfs.fuse.jnr;

import com.kenai.jffi.MemoryIO;
import java.nio.ByteBuffer;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Receives requests and passes them to libfuse, one after another, until the file system is unmounted. */
final class ServingThread implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ServingThread.class);

    private static final int EINTR = 4;
    private static final int EAGAIN = 11;

    private final LibFuse2.Functions fuse;
    private final Session session;
    private final Serving serving;
    private final LateSyncs syncs;
    private final Runnable whenEnded;
    private final ByteBuffer buffer;
    /** A pointer to the channel, passed to libfuse, which may replace the channel. */
    private final Pointer channelInOut;

    /** @param whenEnded called once, when the thread stops serving */
    ServingThread(LibFuse2 libFuse, Session session, Serving serving, LateSyncs syncs, Runnable whenEnded) {
        this.fuse = libFuse.functions();
        this.session = session;
        this.serving = serving;
        this.syncs = syncs;
        this.whenEnded = whenEnded;
        this.buffer = ByteBuffer.allocateDirect(session.bufferBytes());
        this.channelInOut = Memory.allocateDirect(libFuse.runtime(), Long.BYTES, true);
    }

    @Override
    public void run() {
        try {
            serve();
        } catch (RuntimeException | Error e) {
            LOG.error("a FUSE thread failed; the other threads continue", e);
        } finally {
            whenEnded.run();
        }
    }

    private void serve() {
        long address = MemoryIO.getInstance().getDirectBufferAddress(buffer);
        RequestView request = new RequestView(buffer);
        serving.caller().serves(request);
        int length = receive(address);
        while (length > 0) {
            request.begin(length);
            if (request.isSync()) {
                syncs.serve(request);
            } else {
                leadToUnlinkedFile(request);
                fuse.fuse_session_process(session.session(), address, length, session.channel());
            }
            request.end();
            length = receive(address);
        }
    }

    /**
     * Adds the handle to an fstat of a file without a name. The kernel sends fstat without the handle, and the file may
     * have lost its directory too.
     */
    private void leadToUnlinkedFile(RequestView request) {
        if (request.isForAttributesByPath()) {
            Long inode = serving.unlinked().find(request.node());
            if (inode != null) {
                request.goByHandle(OpenFiles.handleOfInode(inode));
            }
        }
    }

    /** @return length of the request in bytes; 0 or less at the end */
    private int receive(long address) {
        int length;
        do {
            channelInOut.putPointer(0, session.channel());
            length = fuse.fuse_chan_recv(channelInOut, address, buffer.capacity());
        } while (length == -EINTR || length == -EAGAIN);
        return length;
    }
}
