package org.opendedup.sar.sdfs.cli;

import java.io.IOException;
import java.util.function.UnaryOperator;
import org.opendedup.sar.io.LockFile;
import org.opendedup.sar.io.PrivateFiles;
import org.opendedup.sar.sdfs.cli.command.CommandFailedException;
import org.opendedup.sar.sdfs.cli.command.RunFiles;
import org.opendedup.sar.sdfs.config.VolumeDefinition;
import org.opendedup.sar.sdfs.config.VolumeFile;

/** The file of a volume that is not mounted. */
record UnmountedVolume(VolumeClient cli) {

    /**
     * Changes the volume file while holding the volume's lock, so that no daemon starts meanwhile.
     *
     * @throws CommandFailedException if a daemon serves the volume or is about to, or the change is not allowed
     */
    void change(UnaryOperator<VolumeDefinition> change) throws IOException, CommandFailedException {
        RunFiles files = cli.runFiles();
        PrivateFiles.createFolders(files.runFolder());
        try (LockFile lock = LockFile.tryAcquire(files.lock()).orElseThrow(this::inUse)) {
            VolumeDefinition before = VolumeFile.read(cli.volumeFile());
            VolumeFile.write(cli.volumeFile(), change.apply(before));
        } catch (IllegalArgumentException e) {
            throw new CommandFailedException(String.valueOf(e.getMessage()));
        }
    }

    private CommandFailedException inUse() {
        return new CommandFailedException("the volume '" + cli.name() + "' is being mounted or unmounted; try again");
    }
}
