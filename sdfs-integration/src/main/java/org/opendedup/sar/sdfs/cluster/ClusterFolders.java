package org.opendedup.sar.sdfs.cluster;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.opendedup.sar.io.AtomicFile;
import org.opendedup.sar.io.PrivateFiles;

/**
 * By which folders this machine reaches the volumes of a cluster: the file {@code NAME-cluster.conf} beside the volume
 * files, one folder a line. All else lies on the volumes.
 *
 * @param file the file, which need not exist
 */
public record ClusterFolders(Path file) {
    /** @param configFolder folder of the volume files */
    public static ClusterFolders of(Path configFolder, String cluster) {
        return new ClusterFolders(configFolder.resolve(cluster + "-cluster.conf"));
    }

    public boolean exist() {
        return Files.exists(file);
    }

    /** @throws NoSuchFileException if this machine has no such cluster; says how to tell it */
    public List<Path> read() throws IOException {
        try {
            return Files.readAllLines(file).stream()
                    .filter(line -> !line.isBlank())
                    .map(Path::of)
                    .toList();
        } catch (NoSuchFileException e) {
            throw new NoSuchFileException(
                    file.toString(),
                    null,
                    "this machine knows no such cluster; make it with 'cluster create', or name the folders of one that"
                            + " exists with 'cluster attach'");
        }
    }

    public void write(List<Path> folders) throws IOException {
        Path above = file.getParent();
        if (above != null) {
            PrivateFiles.createFolders(above);
        }
        String lines = String.join("\n", folders.stream().map(Path::toString).toList()) + "\n";
        AtomicFile.write(file, lines.getBytes(StandardCharsets.UTF_8));
    }
}
