package org.opendedup.sar.ssd;

import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Lists the few files of a folder on the SSD. If the SSD fails during the listing, it throws an IOException, where the
 * JDK throws an unchecked exception.
 */
final class FolderEntries {
    private FolderEntries() {}

    static List<Path> of(Path folder) throws IOException {
        List<Path> entries = new ArrayList<>();
        try (DirectoryStream<Path> stream = Files.newDirectoryStream(folder)) {
            stream.forEach(entries::add);
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return entries;
    }
}
