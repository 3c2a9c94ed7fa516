package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.MountService.MountedVolume;
import org.opendedup.sar.sdfs.config.SarSettings;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;
import org.opendedup.sar.sdfs.jmx.SarAdministration;
import org.opendedup.sar.sdfs.jmx.SarFigures;
import org.opendedup.sar.sdfs.jmx.VolumeMonitor;
import org.opendedup.sar.sdfs.jmx.VolumeRegistration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves one mounted volume until it is unmounted: takes the volume's lock, opens the control socket, opens and mounts the
 * volume, waits, closes it, and clears up behind itself. The same steps follow umount, SIGTERM and {@code sdfscli unmount},
 * since the latter two only end the mount.
 */
final class VolumeDaemon {
    private static final Logger LOG = LoggerFactory.getLogger(VolumeDaemon.class);

    /** How far the volume has come; commands see it in small letters. */
    enum Phase {
        OPENING,
        MOUNTED,
        CLOSING;

        String text() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Instead of {@link Phase#MOUNTED}, while programs use what was taken off its mount point. */
    static final String DETACHED = "detached";

    /** How many files and folders were open to other users when the daemon began; missing if none was. */
    static final String NARROWED = "permissionsTakenAway";

    private final VolumeDefinition definition;
    private final Path volumeFile;
    private final RunFiles files;
    private final Path mountPoint;
    private final String options;
    private final MountService service;
    private final CountDownLatch ended = new CountDownLatch(1);

    private volatile Phase phase = Phase.OPENING;
    private volatile boolean stopRequested;
    private volatile int narrowed;
    private volatile @Nullable MountedVolume mounted;
    private volatile @Nullable VolumeMonitor monitor;
    private volatile @Nullable SarAdministration sar;
    private volatile @Nullable FileControl fileTools;
    /** In the mount table, as long as nobody unmounts it. */
    private volatile Optional<MountTable.Entry> mountEntry = Optional.empty();

    VolumeDaemon(Path volumeFile, RunFiles files, Path mountPoint, String options, MountService service) {
        this.definition = files.definition();
        this.volumeFile = volumeFile;
        this.files = files;
        this.mountPoint = mountPoint;
        this.options = options;
        this.service = service;
    }

    /**
     * Serves the volume. Returns when it is unmounted and closed.
     *
     * @throws CommandFailedException if another process serves it
     * @throws IOException if it cannot be opened or mounted, or was not closed cleanly
     */
    void serve() throws IOException, CommandFailedException, InterruptedException {
        try {
            VolumeFolders folders = VolumeFolders.of(definition);
            folders.requireSafe();
            PrivateFiles.createFolders(files.runFolder());
            PrivateFiles.createFolders(files.socketFolder());
            try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(this::servedElsewhere);
                    ControlServer control = ControlServer.start(files.socket(), this::answer)) {
                LOG.info(
                        "opening volume {}, process {}",
                        name(),
                        ProcessHandle.current().pid());
                narrow(folders);
                mountAndWait();
                LOG.info("volume {} closed", name());
            }
        } finally {
            ended.countDown();
        }
    }

    private void narrow(VolumeFolders folders) throws IOException {
        narrowed = folders.narrow();
        if (narrowed > 0) {
            LOG.warn("volume {}: {}", name(), VolumeFolders.report(narrowed));
        }
    }

    private CommandFailedException servedElsewhere() {
        return new CommandFailedException("the volume '" + name() + "' is served by another process already");
    }

    private void mountAndWait() throws IOException, InterruptedException {
        MountedVolume volume = service.mount(definition, mountPoint, options);
        var figures = new VolumeMonitor(name(), mountPoint.toString(), volume);
        var administration = new SarAdministration(volume.sar(), definition, this::keep, this::checkLocation);
        try (VolumeRegistration registration = VolumeRegistration.register(figures, administration);
                FileControl fileControl = new FileControl(volume.files(), mountPoint)) {
            fileTools = fileControl;
            mounted = volume;
            monitor = figures;
            sar = administration;
            mountEntry = MountTable.read().top(mountPoint);
            phase = Phase.MOUNTED;
            LOG.info("mounted {} on {}", name(), mountPoint);
            mountEntry.ifPresent(entry -> LOG.info("{}", MountAccess.of(entry).text()));
            if (stopRequested) {
                volume.endMount();
            }
            volume.awaitEnd();
        } finally {
            phase = Phase.CLOSING;
            close(volume);
        }
    }

    /** An SSD's store in the volume itself would write to itself. */
    private void checkLocation(Path location) throws IOException {
        if (phase == Phase.MOUNTED && PathWalk.to(location).meets(mountPoint)) {
            throw new IOException(location + " lies in the volume itself; choose a folder on the SSD");
        }
    }

    /** Only this daemon may: it holds the volume's lock. */
    private void keep(SarSettings settings) throws IOException {
        VolumeFile.write(volumeFile, VolumeFile.read(volumeFile).withSar(settings));
    }

    private void close(MountedVolume volume) throws IOException {
        LOG.info("unmounted {}; flushing and closing the volume", name());
        long startNanos = System.nanoTime();
        try (var progress = new ProgressLog("closing volume " + name())) {
            volume.close();
        }
        LOG.info("flushed and closed in {} ms", TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNanos));
    }

    /** Ends the mount, now or as soon as there is one, whoever uses it. {@link #serve} then returns. */
    void requestStop() {
        stopRequested = true;
        MountedVolume volume = mounted;
        if (volume == null) {
            return;
        }
        try {
            volume.endMount();
        } catch (IOException e) {
            LOG.error("the mount of {} on {} cannot be ended", name(), mountPoint, e);
        }
    }

    /** Waits for {@link #serve} to return; false if it takes longer. */
    boolean awaitEnd(Duration limit) throws InterruptedException {
        return ended.await(limit.toMillis(), TimeUnit.MILLISECONDS);
    }

    boolean hasEnded() {
        return ended.getCount() == 0;
    }

    private Map<String, Object> answer(String command, Map<String, Object> arguments, ControlServer.Caller caller)
            throws IOException {
        return switch (command) {
            case "ping" -> state();
            case "info" -> {
                Map<String, Object> info = DefinitionReport.of(volumeFile, files);
                info.putAll(state());
                yield info;
            }
            case "stats" -> {
                requireMounted();
                Map<String, Object> figures = Json.values(Objects.requireNonNull(monitor));
                figures.put(
                        "sar", SarFigures.summary(Objects.requireNonNull(sar).status()));
                yield figures;
            }
            case SarControl.COMMAND -> {
                requireMounted();
                yield new SarControl(Objects.requireNonNull(sar), Objects.requireNonNull(mounted)::explain)
                        .answer(arguments);
            }
            case FileControl.FILE, FileControl.TOP, FileControl.DEFRAG, FileControl.RESTORE -> {
                requireMounted();
                yield Objects.requireNonNull(fileTools).answer(command, arguments, caller);
            }
            case "unmount" -> {
                requireMounted();
                unmount();
                yield state();
            }
            default -> throw new IOException("the command '" + command + "' is not known to the daemon");
        };
    }

    /** From then on, {@link #mounted}, {@link #monitor}, {@link #sar} and {@link #fileTools} are there. */
    private void requireMounted() throws IOException {
        if (phase != Phase.MOUNTED) {
            throw new IOException("the volume is " + phase.text());
        }
    }

    private void unmount() throws IOException {
        if (isDetached()) {
            throw new IOException(
                    "it was unmounted with umount -l already, and ends when its files are closed" + users());
        }
        try {
            Objects.requireNonNull(mounted).unmount();
        } catch (IOException e) {
            throw new IOException(e.getMessage() + users(), e);
        }
    }

    /** Who keeps the mount busy, as the end of a message; nothing if that cannot be seen. */
    private String users() throws IOException {
        List<String> users = mountEntry.isPresent() ? MountUsers.of(mountEntry.get()) : List.of();
        return users.isEmpty() ? "" : "; used by process " + String.join(", ", users);
    }

    /** Whether it is unmounted for everybody but those who had files open, as {@code umount -l} leaves it. */
    private boolean isDetached() throws IOException {
        return phase == Phase.MOUNTED
                && mountEntry.isPresent()
                && !MountTable.read().contains(mountEntry.get());
    }

    private Map<String, Object> state() throws IOException {
        var state = new LinkedHashMap<String, Object>();
        boolean detached = isDetached();
        state.put("state", detached ? DETACHED : phase.text());
        state.put("mountPoint", mountPoint.toString());
        state.put("pid", ProcessHandle.current().pid());
        if (narrowed > 0) {
            state.put(NARROWED, narrowed);
        }
        if (detached) {
            state.put("users", MountUsers.of(mountEntry.get()));
        }
        return state;
    }

    private String name() {
        return definition.config().name();
    }
}
