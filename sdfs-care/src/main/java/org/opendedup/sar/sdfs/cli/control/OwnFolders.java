package org.opendedup.sar.sdfs.cli.control;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Supplier;

/**
 * The folders that hold only the volume's own files.
 *
 * @param stores returns these folders as they are now, by what they are for: a mounted volume gets and leaves some
 */
public record OwnFolders(Supplier<Map<String, Path>> stores) {
    /** @throws IOException if a path leads into one of them */
    public void requireApart(Path path) throws IOException {
        PathWalk walk = PathWalk.to(path);
        for (Map.Entry<String, Path> store : stores.get().entrySet()) {
            if (walk.meets(store.getValue())) {
                throw new IOException(path + " lies in the " + store.getKey() + " " + store.getValue()
                        + ", which is for the volume's own files; choose a folder outside it");
            }
        }
    }
}
