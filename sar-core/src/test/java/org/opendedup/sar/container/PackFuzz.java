package org.opendedup.sar.container;

import static org.opendedup.sar.fuzz.FuzzInputs.resource;
import static org.opendedup.sar.fuzz.ParserSet.withCrc;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import org.opendedup.sar.container.format.ContainerCipher;
import org.opendedup.sar.container.format.ContainerFormat;
import org.opendedup.sar.container.format.FrameFormat;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.crypt.AeadCipher;
import org.opendedup.sar.fuzz.FuzzFolder;
import org.opendedup.sar.fuzz.ParserSet;
import org.opendedup.sar.io.FileDirectory;

/** Whole containers and packs: directories by their footer, and everything that a pack without its table contains. */
public final class PackFuzz {
    private static final String PACK = "00000000/000000000007.pack";

    private static final ContainerCipher PLAIN = ContainerCipher.NONE;
    private static final ContainerCipher KEYED = ContainerCipher.of(TestCiphers.keys(1, AeadCipher.AES_256_GCM));

    private static final ParserSet PARSERS = new ParserSet()
            .addDeclaring("directory", List.of(IOException.class), bytes -> directory(bytes, PLAIN), golden())
            .addDeclaring("pack", List.of(IOException.class), bytes -> pack(bytes, PLAIN), golden())
            .addDeclaring("encrypted directory", List.of(IOException.class), bytes -> directory(bytes, KEYED), golden())
            .addDeclaring("encrypted pack", List.of(IOException.class), bytes -> pack(bytes, KEYED), golden());

    private PackFuzz() {}

    public static ParserSet parsers() {
        return PARSERS;
    }

    public static void fuzzerTestOneInput(byte[] input) {
        PARSERS.parse(input);
    }

    private static byte[][] golden() {
        return List.of("v2-none", "v2-zstd", "v2-lz4", "v2-generation2", "v4-aes-256-gcm").stream()
                .map(kind -> resource(FrameFormat.class, "container-" + kind + ".bin"))
                .toArray(byte[][]::new);
    }

    private static void directory(byte[] bytes, ContainerCipher cipher) throws IOException {
        byte[] container = sealed(bytes);
        long id = container.length < 16 ? 1 : longAt(container, 8);
        DirectoryReader reader = new DirectoryReader(
                new ArrayInput(container, container.length), id, "a pack", cipher, new ReadStatistics());
        SealedContainer sealed = reader.directory();
        if (sealed.frameTable().slots() != reader.frameTable().slots()) {
            throw new AssertionError("the directory has another frame table than the footer finds");
        }
    }

    /** The container in a pack of its own, read without the container table. */
    private static void pack(byte[] bytes, ContainerCipher cipher) throws IOException {
        Path folder = FuzzFolder.emptied();
        byte[] container = sealed(bytes);
        byte[] pack = Arrays.copyOf(PackFormat.header(7).array(), 4096 + container.length);
        System.arraycopy(container, 0, pack, 4096, container.length);
        Files.createDirectories(folder.resolve(PACK).getParent());
        Files.write(folder.resolve(PACK), pack);
        try (PackReader reader = new PackFolder(FileDirectory.open(folder), cipher).open(7)) {
            reader.checkHeader();
            reader.whole(4096, reader.length());
            reader.sealed(container.length < 16 ? 1 : longAt(container, 8), 4096, container.length);
        }
    }

    /** Returns the container with right checksums of header, footer, frame table and directory. */
    private static byte[] sealed(byte[] bytes) {
        byte[] result = withCrc(bytes, ContainerFormat.HEADER_BYTES - 4);
        int footer = result.length - ContainerFormat.FOOTER_BYTES;
        if (footer >= ContainerFormat.HEADER_BYTES) {
            int tableBytes = intAt(result, footer + 28);
            long offset = longAt(result, footer + 32);
            if (offset >= 0 && offset < footer && tableBytes > 4 && tableBytes <= footer - offset) {
                seal(result, (int) offset, (int) offset + tableBytes);
                seal(result, (int) offset, footer);
            }
            seal(result, footer, result.length);
        }
        return result;
    }

    private static void seal(byte[] bytes, int from, int to) {
        byte[] part = withCrc(Arrays.copyOfRange(bytes, from, to), -4);
        System.arraycopy(part, 0, bytes, from, part.length);
    }

    private static int intAt(byte[] bytes, int at) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getInt(at);
    }

    private static long longAt(byte[] bytes, int at) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong(at);
    }
}
