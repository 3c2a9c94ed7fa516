package org.opendedup.sar.sdfs.cli.files;

import java.io.Closeable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.io.handle.MountTable;
import org.opendedup.sar.sdfs.cli.control.ControlArguments;
import org.opendedup.sar.sdfs.cli.control.ControlServer.Handler;
import org.opendedup.sar.sdfs.cli.control.JobControl;
import org.opendedup.sar.sdfs.cli.control.OwnFolders;
import org.opendedup.sar.sdfs.cli.control.WorkControl;
import org.opendedup.sar.sdfs.cli.report.FragmentationReport;
import org.opendedup.sar.sdfs.cli.report.ReadersReport;
import org.opendedup.sar.sdfs.jmx.DiskFigures;
import org.opendedup.sar.sdfs.jmx.FileCare;
import org.opendedup.sar.sdfs.jmx.FilePicture;
import org.opendedup.sar.sdfs.jmx.RestoreCacheFigures;
import org.opendedup.sar.sdfs.jmx.StreamFigures;
import org.opendedup.sar.sdfs.jobs.AttendedJobs;
import org.opendedup.sar.sdfs.jobs.Jobs;
import org.opendedup.sar.sdfs.jobs.RunningJob.Work;
import org.opendedup.sar.volume.rewrite.Defragmentation.Limits;

/**
 * The daemon's side of {@code sdfscli VOLUME file}, {@code top}, {@code clone}, {@code defrag} and {@code restore}: the
 * control commands with these names. The latter three are jobs, see {@link JobControl}. JMX does the same by
 * {@link FileCare}.
 *
 * <p>Only the daemon's user and root can send commands here, and both can read the containers directly. So a command
 * gives no access to a file that the mount would refuse.
 */
public final class FileControl implements FileCare, Closeable {
    public static final String FILE = "file";
    public static final String CLONE = "clone";
    public static final String DEFRAG = "defrag";
    public static final String RESTORE = "restore";
    public static final String TOP = "top";

    private final FileTools files;
    private final OwnFolders own;
    private final Path mountPoint;
    /** Device number, unique to the volume wherever its mount is moved; empty if nothing is mounted there. */
    private final Optional<String> device;

    private final WorkControl clones;
    private final WorkControl defragmentations;
    private final WorkControl restores;

    /**
     * @param volume name of the volume
     * @param own the volume's own folders
     * @param mountPoint where the volume is mounted at the start
     */
    public FileControl(String volume, FileTools files, OwnFolders own, Path mountPoint) throws IOException {
        this.files = files;
        this.own = own;
        this.mountPoint = mountPoint;
        clones = new WorkControl(CLONE, new AttendedJobs<>(volume, CLONE), false, this::cloneTree);
        defragmentations = new WorkControl(DEFRAG, new AttendedJobs<>(volume, DEFRAG), true, this::defrag);
        restores = new WorkControl(RESTORE, new AttendedJobs<>(volume, RESTORE), true, this::restore);
        device = MountTable.read().top(mountPoint).map(MountTable.Entry::device);
    }

    /** Returns what answers the commands. */
    public Map<String, Handler> handlers() {
        return Map.of(
                FILE,
                (arguments, caller) -> file(new ControlArguments(arguments)),
                TOP,
                (arguments, caller) -> top(new ControlArguments(arguments)),
                CLONE,
                clones::answer,
                DEFRAG,
                defragmentations::answer,
                RESTORE,
                restores::answer);
    }

    private FragmentationReport file(ControlArguments arguments) throws IOException {
        String path = arguments.text("path");
        arguments.end();
        return FragmentationReport.of(files.fragmentation(path, DiskModel.HDD), DiskModel.HDD);
    }

    private ReadersReport top(ControlArguments arguments) throws IOException {
        arguments.end();
        return ReadersReport.of(files.readers(), files.disk());
    }

    @Override
    public FilePicture picture(String path) throws IOException {
        return files.picture(path);
    }

    @Override
    public List<StreamFigures> readers() {
        return ReadersReport.of(files.readers(), files.disk()).readers();
    }

    @Override
    public DiskFigures disk() {
        return DiskFigures.of(files.disk());
    }

    @Override
    public RestoreCacheFigures restoreCache() throws IOException {
        return files.restoreCache();
    }

    @Override
    public void restore(String path, Path destination) throws IOException {
        restores.startForJmx(restoreTo(path, destination));
    }

    @Override
    public void defragment(String path) throws IOException {
        defragmentations.startForJmx(files.defragment(path, DiskModel.HDD, new Limits(0, false)));
    }

    /** Returns the jobs of the commands. */
    public List<Jobs<?>> jobs() {
        return List.of(clones.jobs(), defragmentations.jobs(), restores.jobs());
    }

    private Work<Map<String, Object>> cloneTree(ControlArguments arguments) throws IOException {
        String source = arguments.text("path");
        String target = arguments.text("target");
        arguments.end();
        return files.cloneTree(source, target);
    }

    private Work<Map<String, Object>> defrag(ControlArguments arguments) throws IOException {
        String path = arguments.text("path");
        long permille = arguments.number("permille", 0);
        boolean dryRun = arguments.number("dryRun", 0) != 0;
        arguments.end();
        return files.defragment(path, DiskModel.HDD, new Limits(permille / 1000.0, dryRun));
    }

    private Work<Map<String, Object>> restore(ControlArguments arguments) throws IOException {
        String path = arguments.text("path");
        Path destination = Path.of(arguments.text("destination"));
        arguments.end();
        return restoreTo(path, destination);
    }

    private Work<Map<String, Object>> restoreTo(String path, Path destination) throws IOException {
        Path target = destination.normalize();
        Path parent = target.getParent();
        if (!target.isAbsolute() || parent == null) {
            throw new IllegalArgumentException(target + " is no absolute path of a destination");
        }
        if (Files.notExists(parent)) {
            throw new IOException("there is no folder " + parent + "; make it first: mkdir -p " + parent);
        }
        if (isInVolume(parent) || Files.exists(target) && isInVolume(target)) {
            throw new IOException(target
                    + " lies in the volume itself; copy within it with sdfscli VOLUME clone or cp, which move no data");
        }
        own.requireApart(target);
        return files.restore(path, target);
    }

    /** Returns whether a path is in the volume, through any link or bind mount, also one of a folder in the volume. */
    private boolean isInVolume(Path path) throws IOException {
        return device.isPresent()
                ? device.get().equals(MountTable.device(path))
                : path.toRealPath().startsWith(mountPoint);
    }

    /** Stops the running jobs. */
    @Override
    public void close() throws IOException {
        try (clones;
                defragmentations) {
            restores.close();
        }
    }
}
