package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.disk.DiskModel;
import org.opendedup.sar.disk.DiskStatus;
import org.opendedup.sar.restore.fragmentation.FileFragmentation;
import org.opendedup.sar.restore.lookahead.StreamStatus;
import org.opendedup.sar.sdfs.fuse.FuseMount;
import org.opendedup.sar.volume.Defragmentation.Limits;
import org.opendedup.sar.volume.Volume;

/** The file tools of a volume that the kernel serves. Work on a file first makes the kernel write back its cache. */
public record FilesOfVolume(Volume volume, FuseMount mount) implements FileTools {
    @Override
    public FileFragmentation fragmentation(String path, DiskModel disk) throws IOException {
        return paths().use(path, inode -> volume.maintenance().fragmentation(inode, disk));
    }

    @Override
    public BackgroundJob defragment(String path, DiskModel disk, Limits limits) {
        return new DefragJob(paths(), path, disk, limits);
    }

    @Override
    public BackgroundJob restore(String path, Path target) throws IOException {
        return new RestoreJob(paths(), path, target);
    }

    @Override
    public BackgroundJob check() {
        return CheckControl.job(volume.maintenance().check()::run);
    }

    @Override
    public List<StreamStatus> readers() {
        return volume.readers();
    }

    @Override
    public DiskStatus disk() {
        return volume.disk();
    }

    private ServedPaths paths() {
        return new ServedPaths(volume, mount);
    }
}
