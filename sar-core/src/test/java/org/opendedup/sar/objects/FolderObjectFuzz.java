package org.opendedup.sar.objects;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.UUID;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;

/** The file of an object in a folder. */
public final class FolderObjectFuzz {
    private static final ParserSet PARSERS =
            new ParserSet().add("object", FolderObjectFuzz::object, seed(new byte[0]), seed(new byte[] {1, 2, 3}));

    private FolderObjectFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static byte[] seed(byte[] bytes) {
        ObjectSource source = ObjectSource.of(bytes);
        ObjectStatus status = new ObjectStatus(source.length(), source.crc32c(), new UUID(1, 2));
        return ByteBuffer.allocate(bytes.length + FolderObject.TRAILER_BYTES)
                .put(bytes)
                .put(FolderObject.trailer(status))
                .array();
    }

    private static void object(byte[] bytes) throws IOException {
        Path folder = FuzzFolder.emptied();
        Files.write(folder.resolve("object~"), bytes);
        Files.write(folder.resolve("object@0000000000000001"), bytes);
        try (FolderObjectStore store = FolderObjectStore.open(folder)) {
            if (store.status("object").length() != bytes.length - FolderObject.TRAILER_BYTES) {
                throw new AssertionError("a length that the file has not");
            }
            store.readWhole("object", bytes.length);
            store.current("object");
        }
    }
}
