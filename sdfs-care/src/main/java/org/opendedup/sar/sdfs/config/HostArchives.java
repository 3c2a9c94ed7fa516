package org.opendedup.sar.sdfs.config;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;

/**
 * The archives of SDFS's own chunk store: files in folders whose names are numbers, such as {@code 753} and
 * {@code -111}. SDFS makes the folders also for a volume that never had a chunk.
 */
public final class HostArchives {
    private static final Pattern FOLDER = Pattern.compile("-?[0-9]{1,4}");

    private HostArchives() {}

    /** @param folder the location of SDFS's chunk store; may be missing */
    public static boolean areIn(Path folder) throws IOException {
        if (!Files.isDirectory(folder)) {
            return false;
        }
        try (DirectoryStream<Path> folders = Files.newDirectoryStream(
                folder,
                path -> FOLDER.matcher(String.valueOf(path.getFileName())).matches() && Files.isDirectory(path))) {
            for (Path archives : folders) {
                try (DirectoryStream<Path> files = Files.newDirectoryStream(archives)) {
                    if (files.iterator().hasNext()) {
                        return true;
                    }
                }
            }
        }
        return false;
    }
}
