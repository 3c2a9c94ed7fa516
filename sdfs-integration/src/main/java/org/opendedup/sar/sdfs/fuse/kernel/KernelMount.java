package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.sdfs.fuse.FuseOperations;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.ReadAhead;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A mount and the threads that serve it. Ends when the last thread has found it unmounted. */
final class KernelMount implements FuseMount {
    /** Time in milliseconds that {@link #close} waits for programs to leave, and again for the threads to end. */
    private static final long GRACE_MS = 5_000;

    private static final long RETRY_MS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(KernelMount.class);

    private final Path mountPoint;
    private final Libc libc;
    private final Mounter mounter;
    private final FuseOperations operations;
    private final List<Channel> channels;
    private final Interrupts interrupts;
    private final LateSyncs syncs;
    private final Crew crew;
    private final AtomicInteger running;
    /** True after any thread has seen that the mount point was removed. */
    private final AtomicBoolean unmounted = new AtomicBoolean();

    private final CountDownLatch ended = new CountDownLatch(1);

    /** Set as soon as the mount answers, before {@link #start} returns. */
    private volatile @Nullable FuseConnection connection;

    private KernelMount(
            Path mountPoint,
            Libc libc,
            Mounter mounter,
            FuseOperations operations,
            List<Channel> channels,
            Interrupts interrupts,
            LateSyncs syncs) {
        this.mountPoint = mountPoint;
        this.libc = libc;
        this.mounter = mounter;
        this.operations = operations;
        this.channels = channels;
        this.interrupts = interrupts;
        this.syncs = syncs;
        this.crew = new Crew(channels.size());
        this.running = new AtomicInteger(channels.size());
    }

    /** @param killed returns whether a thread is about to be killed, so that its request may be abandoned */
    static KernelMount start(
            FuseOperations operations, MountOptions options, Libc libc, Mounter mounter, IntPredicate killed)
            throws IOException {
        int device = mounter.mount(options);
        List<Channel> channels = new ArrayList<>();
        Agreement agreement;
        try {
            channels.add(new Channel(libc, device));
            agreement = new InitHandshake(channels.get(0)).perform();
            addClones(channels, options.threads());
        } catch (IOException | RuntimeException | Error e) {
            channels.forEach(Channel::close);
            detachAfter(e, mounter, options.mountPoint());
            throw e;
        }
        LateSyncs syncs = new LateSyncs(operations, channels.size());
        Interrupts interrupts =
                new Interrupts(channels.stream().map(Channel::served).toList(), syncs, killed);
        KernelMount mount =
                new KernelMount(options.mountPoint(), libc, mounter, operations, channels, interrupts, syncs);
        mount.startThreads(agreement);
        mount.identify();
        ReadAhead.raise(options.mountPoint(), options.readAheadKib());
        return mount;
    }

    private void identify() {
        try {
            connection = FuseConnection.at(mountPoint);
        } catch (IOException e) {
            LOG.warn("{} cannot be distinguished from a later mount in its place: {}", mountPoint, e.toString());
        }
    }

    private static void addClones(List<Channel> channels, int threads) throws IOException {
        while (channels.size() < threads) {
            channels.add(channels.get(0).cloned());
        }
    }

    private static void detachAfter(Throwable failure, Mounter mounter, Path mountPoint) {
        try {
            mounter.detach(mountPoint);
        } catch (IOException e) {
            failure.addSuppressed(e);
        }
    }

    private void startThreads(Agreement agreement) {
        interrupts.start();
        for (int i = 0; i < channels.size(); i++) {
            Worker worker = new Worker(
                    channels.get(i),
                    crew.members().get(i),
                    operations,
                    agreement,
                    interrupts,
                    syncs,
                    this::workerEnded);
            Thread thread = new Thread(worker, "fuse-" + i);
            thread.setDaemon(true);
            thread.start();
        }
        crew.startGuard();
    }

    private void workerEnded(boolean sawUnmounted) {
        if (sawUnmounted) {
            unmounted.set(true);
        }
        if (running.decrementAndGet() > 0) {
            return;
        }
        interrupts.close();
        try {
            if (!unmounted.get() && isInPlace()) {
                LOG.error("the service of {} has ended although it was not unmounted; detaching it", mountPoint);
                mounter.detach(mountPoint);
            }
        } catch (IOException e) {
            LOG.error("{} is left as a dead mount: umount -l {}", mountPoint, mountPoint, e);
        } finally {
            syncs.close();
            endOperations();
        }
    }

    private void endOperations() {
        try {
            operations.end();
        } finally {
            ended.countDown();
        }
    }

    @Override
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    @Override
    public void unmount() throws IOException {
        if (!hasEnded() && isInPlace() && !mounter.unmount(mountPoint)) {
            throw new IOException(mountPoint + " is busy: programs use it");
        }
    }

    @Override
    public long bufferBytes() {
        return channels.size() * Channel.BUFFER_BYTES;
    }

    @Override
    public void close() throws IOException {
        try {
            if (!unmountInTime()) {
                LOG.warn("{} is busy; aborting the requests of its users", mountPoint);
                writeBack();
                mounter.detach(mountPoint);
            }
            if (!awaitGrace()) {
                cutOffUsersOfDetached();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + mountPoint, e);
        }
    }

    private boolean unmountInTime() throws IOException, InterruptedException {
        for (long waitedMs = 0; !hasEnded(); waitedMs += RETRY_MS) {
            if (!isInPlace() || mounter.unmount(mountPoint)) {
                return true;
            }
            if (waitedMs >= GRACE_MS) {
                return false;
            }
            Thread.sleep(RETRY_MS);
        }
        return true;
    }

    @Override
    public void writeBack() throws IOException {
        int fd = libc.functions().open(mountPoint.toString(), Libc.O_RDONLY | Libc.O_DIRECTORY | Libc.O_CLOEXEC);
        if (fd < 0) {
            throw libc.failure("opening " + mountPoint);
        }
        try {
            if (libc.functions().syncfs(fd) != 0) {
                throw libc.failure("writing back " + mountPoint);
            }
        } finally {
            libc.functions().close(fd);
        }
    }

    /**
     * Cuts off programs after {@code umount -l}: files are still open, and no path to them exists through which the
     * kernel could be made to write back.
     */
    private void cutOffUsersOfDetached() throws IOException, InterruptedException {
        LOG.warn("{} is detached, but programs still use it; aborting their requests", mountPoint);
        libc.functions().sync();
        unmounted.set(true);
        FuseConnection abandoned = connection;
        if (abandoned != null) {
            abandoned.abort();
        }
        if (!awaitGrace()) {
            throw new IOException(mountPoint + " is detached, but its service does not end");
        }
    }

    private boolean awaitGrace() throws InterruptedException {
        return ended.await(GRACE_MS, TimeUnit.MILLISECONDS);
    }

    /**
     * Returns whether this file system is still mounted at its mount point. If not, another process unmounted it, and
     * whatever is mounted there now must not be touched.
     */
    private boolean isInPlace() {
        FuseConnection made = connection;
        return made == null || made.isInPlace();
    }

    private boolean hasEnded() {
        return unmounted.get() || ended.getCount() == 0;
    }
}
