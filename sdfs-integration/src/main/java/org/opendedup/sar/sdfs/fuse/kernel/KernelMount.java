package org.opendedup.sar.sdfs.fuse.kernel;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Closing;
import org.opendedup.sar.io.Libc;
import org.opendedup.sar.sdfs.fuse.DeviceNumber;
import org.opendedup.sar.sdfs.fuse.FuseFileSystem;
import org.opendedup.sar.sdfs.fuse.MountOptions;
import org.opendedup.sar.sdfs.fuse.Passthrough;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A mount and the threads that serve it. Ends when the last thread has found it unmounted. Needs {@code /dev/fuse} and
 * Linux 5.4 or newer. Root needs nothing more; other users also need {@code fusermount3}.
 */
public final class KernelMount implements Closeable {
    /** Time in milliseconds that {@link #close} waits for programs to leave, and again for the threads to end. */
    private static final long GRACE_MS = 5_000;

    private static final long RETRY_MS = 100;

    private static final Logger LOG = LoggerFactory.getLogger(KernelMount.class);

    private final Path mountPoint;
    private final Libc libc;
    private final Mounter mounter;
    private final FuseFileSystem operations;
    private final MountOptions options;
    private final List<Channel> channels = new ArrayList<>();
    private final Interrupts interrupts;
    private final LateSyncs syncs;
    private final Crew crew;
    /** Requests of the threads that serve, which may be abandoned. */
    private final List<ServedRequest> served = new CopyOnWriteArrayList<>();
    /** Threads that serve, and one while {@link #start} starts them. */
    private final AtomicInteger running = new AtomicInteger(1);
    /** True after any thread has seen that the mount point was removed. */
    private final AtomicBoolean unmounted = new AtomicBoolean();

    private final CountDownLatch ended = new CountDownLatch(1);

    /** Null without passthrough. Set before any thread starts. */
    private volatile @Nullable BackingDevice backingDevice;

    /** Set before {@link #start} returns. */
    private volatile Passthrough passthrough = Passthrough.NOT_WANTED;

    /** Set as soon as the mount answers, before {@link #start} returns. */
    private volatile @Nullable FuseConnection connection;

    private KernelMount(
            MountOptions options,
            Libc libc,
            Mounter mounter,
            FuseFileSystem operations,
            IntPredicate killed,
            int device) {
        this.mountPoint = options.mountPoint();
        this.options = options;
        this.libc = libc;
        this.mounter = mounter;
        this.operations = operations;
        this.channels.add(new Channel(libc, device));
        this.syncs = new LateSyncs(operations, options.threads());
        this.interrupts = new Interrupts(served, syncs, killed);
        this.crew = new Crew(
                options.threads(), new ProcessorLatency(libc, options.fastWakeUp() ? ProcessorLatency.DEVICE : null));
    }

    /**
     * Mounts a file system and starts to serve it. The mount point answers requests when this method returns. Its path
     * has no symbolic link.
     *
     * @throws IOException if the mount point cannot be used or the kernel cannot be served; the message says why, and
     *     nothing stays mounted
     */
    public static KernelMount mount(FuseFileSystem operations, MountOptions options) throws IOException {
        Libc libc = new Libc();
        boolean root = libc.functions().geteuid() == 0;
        Mounter mounter = root ? new DirectMounter(libc) : new FusermountMounter(libc);
        return mount(operations, options, libc, mounter, ThreadStatus::isKilled);
    }

    /** @param killed returns whether a thread is about to be killed, so that its request may be abandoned */
    static KernelMount mount(
            FuseFileSystem operations, MountOptions options, Libc libc, Mounter mounter, IntPredicate killed)
            throws IOException {
        Path mountPoint = options.mountPoint();
        if (!Files.isDirectory(mountPoint)) {
            throw new IOException(mountPoint + " is not a directory to mount on (is there a dead mount?"
                    + " Then: umount -l " + mountPoint + ")");
        }
        Path real = mountPoint.toRealPath();
        if (!real.equals(mountPoint.toAbsolutePath().normalize())) {
            throw new IOException(mountPoint + " leads to " + real + " by a symbolic link; name that folder, if it is"
                    + " meant: who could put a link there would choose what is mounted over");
        }
        return start(operations, options.withMountPoint(real), libc, mounter, killed);
    }

    /**
     * Changes the options of a mount of any process, as {@code mount -o remount} does: read-only or writable, setuid
     * programs, devices, execution, access times, synchronous writes. The other options keep their values. A change to
     * read-only first writes back the kernel's cache. For root only.
     *
     * @throws IOException if the mount cannot be changed; with "busy" in its message if it was to become read-only and
     *     files are open for writing
     */
    public static void remount(MountOptions options) throws IOException {
        new DirectMounter(new Libc()).remount(options);
    }

    /** Returns the native memory for the request and reply buffers of a mount with these options, in bytes. */
    public static long bufferBytes(MountOptions options) {
        return options.threads() * Channel.BUFFER_BYTES;
    }

    private static KernelMount start(
            FuseFileSystem operations, MountOptions options, Libc libc, Mounter mounter, IntPredicate killed)
            throws IOException {
        int device = mounter.mount(options);
        KernelMount mount = new KernelMount(options, libc, mounter, operations, killed, device);
        try {
            mount.startThreads(device);
        } catch (IOException | RuntimeException | Error e) {
            mount.giveUp(e);
            throw e;
        }
        mount.identify();
        mount.raiseReadAhead();
        return mount;
    }

    private void startThreads(int device) throws IOException {
        Agreement agreement =
                new InitHandshake(channels.get(0), options.requests(), BackingDevice.wanted(libc, options)).perform();
        PassedThroughFiles backings = openBackings(agreement, device);
        addClones();
        interrupts.start();
        for (int i = 0; i < channels.size(); i++) {
            start(channels.get(i), crew.members().get(i), agreement, backings, "fuse-" + i);
        }
        crew.startGuard();
        workerEnded(false);
    }

    private PassedThroughFiles openBackings(Agreement agreement, int device) throws IOException {
        passthrough = agreement.passthrough();
        if (options.passthrough()) {
            LOG.info("{}: passthrough {}", mountPoint, passthrough);
        }
        if (!passthrough.isOn()) {
            return PassedThroughFiles.none();
        }
        BackingDevice made = new BackingDevice(libc, device);
        backingDevice = made;
        return new PassedThroughFiles(made);
    }

    /** Undoes a start that failed. */
    private void giveUp(Throwable failure) {
        boolean threadsRun = running.get() > 1;
        if (!threadsRun) {
            channels.forEach(Channel::close);
        }
        Closing.after(failure, () -> mounter.detach(mountPoint));
        if (!threadsRun) {
            closeBackings();
        }
    }

    private void closeBackings() {
        BackingDevice made = backingDevice;
        if (made != null) {
            made.close();
        }
    }

    private void identify() {
        try {
            connection = FuseConnection.at(mountPoint);
        } catch (IOException e) {
            LOG.warn("{} cannot be distinguished from a later mount in its place: {}", mountPoint, e.toString());
        }
    }

    /**
     * Sets {@code read_ahead_kb} of the mount. Only root may. Without it, the mount works but the kernel reads in steps
     * of 128 KiB.
     */
    private void raiseReadAhead() {
        if (options.readAheadKib() == 0) {
            return;
        }
        try {
            long device = DeviceNumber.of(mountPoint);
            String name = DeviceNumber.major(device) + ":" + DeviceNumber.minor(device);
            Files.writeString(
                    Path.of("/sys/class/bdi", name, "read_ahead_kb"), Integer.toString(options.readAheadKib()));
        } catch (IOException e) {
            LOG.info("read-ahead stays at the kernel's own: {}", e.toString());
        }
    }

    private void addClones() throws IOException {
        while (channels.size() < options.threads()) {
            channels.add(channels.get(0).cloned());
        }
    }

    private void start(
            Channel channel, Crew.Member member, Agreement agreement, PassedThroughFiles backings, String name) {
        served.add(channel.served());
        running.incrementAndGet();
        Worker worker =
                new Worker(channel, member, operations, agreement, interrupts, syncs, backings, this::workerEnded);
        Thread thread = new Thread(worker, name);
        thread.setDaemon(true);
        // A program waits for each request, and the daemon's own work in the background for none.
        thread.setPriority(Thread.MAX_PRIORITY);
        thread.start();
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
            channels.get(0).awaitLateAnswers();
            closeBackings();
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

    /**
     * Waits until the file system is unmounted by any process, the last request is answered and
     * {@link FuseFileSystem#end} has returned.
     */
    public void awaitEnd() throws InterruptedException {
        ended.await();
    }

    /**
     * Unmounts the file system. First writes back the data in the kernel's cache. If programs use the file system, it
     * stays mounted.
     *
     * @throws IOException with "busy" in its message if programs use it
     */
    public void unmount() throws IOException {
        if (!hasEnded() && isInPlace()) {
            // A mount namespace may keep the file system: the kernel then writes nothing back by itself.
            try {
                beginWriteBack();
            } catch (IOException e) {
                LOG.warn("what programs have written to {} last is not written back: {}", mountPoint, e.getMessage());
            }
        }
        if (!hasEnded() && isInPlace() && !mounter.unmount(mountPoint)) {
            throw new IOException(mountPoint + " is busy: programs use it");
        }
    }

    /**
     * Returns whether the kernel reads and writes the files of {@link FuseFileSystem#backing} itself, and if not, why.
     */
    public Passthrough passthrough() {
        return passthrough;
    }

    /** Returns the native memory of the request and reply buffers, in bytes. */
    public long bufferBytes() {
        return channels.size() * Channel.BUFFER_BYTES;
    }

    /**
     * Ends the service in bounded time. Tries to unmount. If programs still use the file system after a few seconds,
     * writes back the kernel's cache and detaches the file system; those programs then get errors. Waits for
     * {@link FuseFileSystem#end}. Idempotent.
     */
    @Override
    public void close() throws IOException {
        close(GRACE_MS);
    }

    /** @param graceMs how long each step may take, in ms */
    void close(long graceMs) throws IOException {
        try {
            if (!unmountInTime(graceMs)) {
                LOG.warn("{} is busy; aborting the requests of its users", mountPoint);
                tryToWriteBack();
                mounter.detach(mountPoint);
            }
            if (!awaitGrace(graceMs)) {
                cutOffUsersOfDetached(graceMs);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while unmounting " + mountPoint, e);
        }
    }

    private boolean unmountInTime(long graceMs) throws IOException, InterruptedException {
        for (long waitedMs = 0; !hasEnded(); waitedMs += RETRY_MS) {
            if (!isInPlace() || mounter.unmount(mountPoint)) {
                return true;
            }
            if (waitedMs >= graceMs) {
                return false;
            }
            Thread.sleep(RETRY_MS);
        }
        return true;
    }

    /** A volume that refuses writes keeps nobody from ending its mount. */
    private void tryToWriteBack() {
        try {
            String refusal = refusedInWriteBack();
            if (refusal != null) {
                throw new IOException("writing back " + mountPoint + ": " + refusal);
            }
        } catch (IOException e) {
            LOG.error("what programs have written to {} last, and not synced, is lost: {}", mountPoint, e.getMessage());
        }
    }

    /**
     * Makes the kernel send the written data in its cache that it has not sent yet, and waits for it. The kernel also
     * drops its pages of files that are open for writing, because only that makes it wait: syncfs(2) begins to write,
     * and does not wait for the answers of a FUSE file system. Those of a closed file have arrived when close(2)
     * returns. What is on its way already is not waited for by kernels before Linux 6.16. Does not fail if bytes of
     * some file are refused, also earlier: their program hears of it, and a user at the limit of a quota must not keep
     * others from what follows. Do not call this from a thread that serves this file system.
     */
    public void writeBack() throws IOException {
        boolean waitsForSent = waitsForSent(System.getProperty("os.version"));
        if (!waitsForSent) {
            dropPages(operations.writtenInodes());
        }
        beginWriteBack();
        if (waitsForSent) {
            dropPages(operations.writtenInodes());
        }
    }

    /**
     * Makes the kernel begin to send the written data in its cache that it has not sent yet. As {@link #writeBack}, but
     * does not wait, and the kernel keeps its pages.
     */
    public void beginWriteBack() throws IOException {
        String refusal = refusedInWriteBack();
        if (refusal != null) {
            LOG.warn(
                    "not all that programs have written to {} is stored, which fsync and close tell them: {}",
                    mountPoint,
                    refusal);
        }
    }

    /**
     * Returns whether dropping pages waits for those that the kernel is sending already: Linux does so from 6.16 on.
     * Before, it sends copies of them, for which nothing waits but fsync, and only pages that are dropped while they
     * are not sent yet are waited for: one after the other, which takes longer.
     *
     * @param release of the kernel, such as 6.1.0-44-amd64
     */
    static boolean waitsForSent(String release) {
        String[] numbers = release.split("[^0-9]", 3);
        int version = Integer.parseInt(numbers[0]) * 1000 + Integer.parseInt(numbers[1]);
        return version >= 6016;
    }

    /**
     * Makes the kernel write back. Returns why bytes of some file were refused since the last time; null if none were.
     */
    private @Nullable String refusedInWriteBack() throws IOException {
        int fd = libc.open(mountPoint, Libc.O_RDONLY);
        if (fd < 0) {
            throw libc.failure("opening " + mountPoint);
        }
        try {
            return libc.functions().syncfs(fd) == 0 ? null : libc.functions().strerror(Libc.errno());
        } finally {
            libc.functions().close(fd);
        }
    }

    /**
     * Makes the kernel forget whether a name exists, because it was changed without a request of the kernel. Do not
     * call this from a thread that serves this file system.
     *
     * @param directory inode number of the directory
     */
    public void forget(long directory, byte[] name) {
        if (!throughOne(channel -> channel.forget(directory, name))) {
            LOG.warn(
                    "{}: the kernel keeps what it knew of a name in inode {}, because it was not told",
                    mountPoint,
                    directory);
        }
    }

    /**
     * Makes the kernel drop the pages of inodes, so that programs read them from the service again. Those that were
     * written are sent first. Do not call this from a thread that serves this file system.
     *
     * @throws IOException if the kernel could not be told
     */
    public void dropPages(Collection<Long> inodes) throws IOException {
        if (!throughOne(channel -> channel.dropPages(inodes))) {
            throw new IOException("the kernel cannot be told to send what it has of " + mountPoint
                    + ": the service has ended, or its process has no descriptor left");
        }
    }

    /** Sends notes through the first channel that can: one whose worker has failed cannot. */
    private boolean throughOne(Predicate<Channel> notes) {
        return channels.stream().anyMatch(notes);
    }

    /**
     * Ends the service at once, because the file system is another machine's now: no path leads to it any more, and
     * programs with open files get errors, also for what the kernel had in memory. What they have written and the
     * service refuses is lost.
     *
     * @param inodes those of open files
     */
    public void abandon(Collection<Long> inodes) throws IOException {
        // First: when it is detached, the kernel takes no such notes any more.
        try {
            dropPages(inodes);
        } catch (IOException e) {
            LOG.warn("programs may still read what the kernel has: {}", e.getMessage());
        }
        if (!hasEnded() && isInPlace()) {
            mounter.detach(mountPoint);
        }
        close();
    }

    /**
     * Cuts off programs after {@code umount -l}: files are still open, and no path to them exists through which the
     * kernel could be made to write back.
     */
    private void cutOffUsersOfDetached(long graceMs) throws IOException, InterruptedException {
        if (isConnected()) {
            LOG.warn("{} is detached, but programs still use it; aborting their requests", mountPoint);
            libc.functions().sync();
        }
        unmounted.set(true);
        FuseConnection abandoned = connection;
        if (abandoned != null) {
            abandoned.abort(libc, this::isConnected);
        }
        if (!awaitGrace(graceMs)) {
            throw new IOException(mountPoint + " is detached, but its service does not end");
        }
    }

    private boolean awaitGrace(long graceMs) throws InterruptedException {
        return ended.await(graceMs, TimeUnit.MILLISECONDS);
    }

    /**
     * Returns whether this file system is still mounted at its mount point. If not, another process unmounted it, and
     * whatever is mounted there now must not be touched.
     */
    private boolean isInPlace() {
        FuseConnection made = connection;
        return made == null || made.isInPlace();
    }

    /** Returns whether the kernel has the connection. Requests may be served for some time after it has ended. */
    private boolean isConnected() {
        return channels.stream().anyMatch(Channel::isConnected);
    }

    private boolean hasEnded() {
        return unmounted.get() || ended.getCount() == 0;
    }
}
