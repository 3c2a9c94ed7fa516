package org.opendedup.sar.sdfs.fuse.jnr;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jnr.ffi.Memory;
import jnr.ffi.Pointer;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.opendedup.sar.sdfs.fuse.ReadAhead;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mount by libfuse 2 and the threads that serve it. Ends when the last thread has found it unmounted. */
final class JnrMount implements FuseMount {
    private static final Logger LOG = LoggerFactory.getLogger(JnrMount.class);

    /** Time in milliseconds that {@link #close} waits for programs to leave, and again for the threads to end. */
    private static final long GRACE_MS = 5_000;

    private static final long RETRY_MS = 100;

    private final Path mountPoint;
    private final LibFuse2 libFuse;
    private final FuseOperations operations;
    private final Unmounter unmounter;
    private final CallbackTable callbacks;
    private final Session session;
    private final LateSyncs syncs;
    private final List<ServingThread> threads = new ArrayList<>();
    private final AtomicInteger running;
    /** Released when the kernel and libfuse have agreed on the protocol, or when the service has ended. */
    private final CountDownLatch begun = new CountDownLatch(1);

    private final CountDownLatch ended = new CountDownLatch(1);

    private JnrMount(LibFuse2 libFuse, FuseOperations operations, MountOptions options, boolean root)
            throws IOException {
        this.mountPoint = options.mountPoint();
        this.libFuse = libFuse;
        this.operations = operations;
        this.unmounter = new Unmounter(mountPoint, root);
        this.running = new AtomicInteger(options.threads());
        Serving serving = Serving.of(operations, libFuse);
        this.callbacks = callbacks(serving);
        this.session = mount(FuseArguments.of(options, root));
        this.syncs = new LateSyncs(libFuse, session, serving.caller(), options.threads());
        for (int i = 0; i < options.threads(); i++) {
            threads.add(new ServingThread(libFuse, session, serving, syncs, this::threadEnded));
        }
    }

    /** Mounts the file system. The mount point answers requests when this method returns. */
    static JnrMount start(LibFuse2 libFuse, FuseOperations operations, MountOptions options, boolean root)
            throws IOException {
        JnrMount mount = new JnrMount(libFuse, operations, options, root);
        if (options.passthrough()) {
            LOG.info("{}: passthrough {}", options.mountPoint(), mount.passthrough());
        }
        mount.startThreads();
        mount.awaitBegin();
        ReadAhead.raise(options.mountPoint(), options.readAheadKib());
        return mount;
    }

    private CallbackTable callbacks(Serving serving) {
        CallbackTable table = new CallbackTable(serving.runtime());
        new NameCalls(serving).register(table);
        new AttributeCalls(serving).register(table);
        new FileCalls(serving).register(table);
        new DirectoryCalls(serving).register(table);
        table.set(CallbackTable.Slot.INIT, Callbacks.Init.class, connection -> {
            begun.countDown();
            return null;
        });
        return table;
    }

    private Session mount(String[] arguments) throws IOException {
        LibFuse2.Functions fuse = libFuse.functions();
        Pointer mountPointOut = Memory.allocateDirect(libFuse.runtime(), Long.BYTES, true);
        Pointer ignored = Memory.allocateDirect(libFuse.runtime(), Long.BYTES, true);
        Pointer handle = fuse.fuse_setup(
                arguments.length, arguments, callbacks.memory(), CallbackTable.BYTES, mountPointOut, ignored, null);
        if (handle == null) {
            throw new IOException("libfuse 2 could not mount on " + mountPoint + "; its error stream says why");
        }
        Pointer session = fuse.fuse_get_session(handle);
        Pointer channel = fuse.fuse_session_next_chan(session, null);
        return new Session(
                handle,
                mountPointOut.getPointer(0),
                session,
                channel,
                Math.toIntExact(fuse.fuse_chan_bufsize(channel)));
    }

    private void startThreads() {
        for (int i = 0; i < threads.size(); i++) {
            Thread thread = new Thread(threads.get(i), "fuse-" + i);
            thread.setDaemon(true);
            thread.start();
        }
    }

    private void awaitBegin() throws IOException {
        try {
            begun.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while mounting on " + mountPoint, e);
        }
        if (ended.getCount() == 0) {
            throw new IOException("the service of " + mountPoint + " ended before it began");
        }
    }

    private void threadEnded() {
        if (running.decrementAndGet() > 0) {
            return;
        }
        syncs.close();
        try {
            // Finds the mount removed, or unmounts it if the threads ended for another reason.
            libFuse.functions().fuse_teardown(session.fuse(), session.mountPoint());
        } catch (RuntimeException | Error e) {
            LOG.error("ending the service of {}", mountPoint, e);
        } finally {
            endOperations();
        }
    }

    private void endOperations() {
        try {
            operations.end();
        } finally {
            ended.countDown();
            begun.countDown();
        }
    }

    @Override
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    @Override
    public void unmount() throws IOException {
        if (!hasEnded() && !unmounter.unmount()) {
            throw new IOException(mountPoint + " is busy: programs use it");
        }
    }

    /** Does nothing: libfuse 2 has no write-back cache, so each write arrives at once. */
    @Override
    public void writeBack() {}

    /**
     * Returns the native memory of the buffers, in bytes. libfuse also allocates a buffer of at most 128 KiB for each
     * read in progress; this is included.
     */
    @Override
    public Passthrough passthrough() {
        return Passthrough.off("the binding jnr has none");
    }

    @Override
    public long bufferBytes() {
        return 2L * threads.size() * session.bufferBytes();
    }

    @Override
    public void close() throws IOException {
        try {
            if (!unmountInTime()) {
                LOG.warn("{} is busy; aborting the requests of its users", mountPoint);
                unmounter.detach();
            }
            if (!ended.await(GRACE_MS, TimeUnit.MILLISECONDS)) {
                throw new IOException(mountPoint + " is detached, but programs still use it");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + mountPoint, e);
        }
    }

    private boolean unmountInTime() throws IOException, InterruptedException {
        for (long waitedMs = 0; !hasEnded(); waitedMs += RETRY_MS) {
            if (unmounter.unmount()) {
                return true;
            }
            if (waitedMs >= GRACE_MS) {
                return false;
            }
            Thread.sleep(RETRY_MS);
        }
        return true;
    }

    private boolean hasEnded() {
        return ended.getCount() == 0;
    }
}
