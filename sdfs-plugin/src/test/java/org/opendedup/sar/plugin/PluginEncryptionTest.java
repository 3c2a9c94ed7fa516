package org.opendedup.sar.plugin;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.management.MBeanFeatureInfo;
import javax.management.ObjectName;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.opendedup.logging.SDFSLogger;
import org.opendedup.sar.sdfs.cli.command.ExitCode;
import org.opendedup.sar.sdfs.cli.report.Json;

/** Chunks that are encrypted: nothing of them is in a file, and nothing works without a passphrase or key. */
@Timeout(300)
class PluginEncryptionTest extends PluginTrial {
    private static final String FIRST = "correct horse battery staple";
    private static final String PLAIN = "sar-encrypt=\"false\"";
    private static final String SECOND = "another passphrase";

    /** Parts of memory that a core dump of this JVM has; processes that other tests start inherit it. */
    private static final Path CORE_DUMP_PARTS = Path.of("/proc/self/coredump_filter");

    private int coreDumpParts;

    private static int readCoreDumpParts() throws IOException {
        return Integer.parseInt(Files.readString(CORE_DUMP_PARTS).strip(), 16);
    }

    @BeforeEach
    void keepCoreDumpParts() throws IOException {
        coreDumpParts = readCoreDumpParts();
    }

    @AfterEach
    void restoreCoreDumpParts() throws IOException {
        Files.writeString(CORE_DUMP_PARTS, "0x" + Integer.toHexString(coreDumpParts));
    }

    private Path secret(String name, String passphrase) throws IOException {
        return Files.writeString(folder.resolve(name), passphrase + "\n");
    }

    /** Writes the volume file of a volume that reads each chunk from its SSD after the first time. */
    private void writeFile(String attributes) throws IOException {
        writeVolumeFile(attributes + " sar-index-location=\"" + store.resolve("index") + "\" sar-ssd-location=\""
                + store.resolve("ssd") + "\" sar-ssd-capacity=\"64MB\" sar-policy=\"open\"");
    }

    private String encrypted() {
        return "sar-encrypt=\"true\" sar-passphrase-file=\"" + folder.resolve("secret") + "\"";
    }

    private static void readAll(PluginEngine engine, long[] locations) throws IOException {
        for (int number = 0; number < CHUNKS; number++) {
            Chunk chunk = Chunk.of(number);
            assertArrayEquals(chunk.bytes(), engine.get(chunk.hash(), locations[number]));
        }
    }

    /** Returns the folders of the engine with a file that has one of these. */
    private List<String> foldersWith(List<byte[]> needles) throws IOException {
        List<String> texts =
                needles.stream().map(needle -> new String(needle, ISO_8859_1)).toList();
        return Stream.of("sar/data", "sar/metadata", "index", "ssd")
                .filter(each -> !filesWith(store.resolve(each), texts).isEmpty())
                .toList();
    }

    private static List<Path> filesWith(Path below, List<String> texts) {
        try (Stream<Path> files = Files.walk(below)) {
            return files.filter(Files::isRegularFile)
                    .filter(file -> has(file, texts))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static boolean has(Path file, List<String> texts) {
        try {
            String bytes = Files.readString(file, ISO_8859_1);
            return texts.stream().anyMatch(bytes::contains);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    /** Parts of the content of all chunks. */
    private static List<byte[]> contents() {
        return Stream.iterate(0, number -> number + 1)
                .limit(CHUNKS)
                .map(number -> Arrays.copyOfRange(Chunk.of(number).bytes(), 1000, 1024))
                .toList();
    }

    /** Parts of all fingerprints, as SDFS makes them. */
    private static List<byte[]> fingerprints() {
        return Stream.iterate(0, number -> number + 1)
                .limit(CHUNKS)
                .map(number -> Arrays.copyOf(Chunk.of(number).hash(), 8))
                .toList();
    }

    private void assertRefused(String because) {
        String message = assertThrows(IOException.class, this::open).getMessage();
        assertTrue(message.contains(because), message);
    }

    @Test
    void nothingOfTheChunksIsInAFileAndAllCommandsWorkWithTheKey() throws Exception {
        HostLog.use();
        SDFSLogger.LINES.clear();
        writeFile(encrypted());
        assertRefused("secret: no such file or folder. The passphrase or key comes from what sar-passphrase-file");
        assertFalse(Files.exists(store.resolve("sar")), "nothing is made without a passphrase");
        assertEquals(ExitCode.FAILED, cli("key", "test"));
        assertTrue(err.toString().contains("the first mount by SDFS makes them"), err::toString);
        assertFalse(Files.exists(store.resolve("sar")));

        secret("secret", FIRST);
        PluginEngine opened = open();
        long[] locations = put(opened);
        readAll(opened, locations);
        readAll(opened, locations);
        changeThePassphrase();
        List<String> settings = Stream.of(ManagementFactory.getPlatformMBeanServer()
                        .getMBeanInfo(new ObjectName("org.opendedup.sar:type=Settings,volume=pool0"))
                        .getAttributes())
                .map(MBeanFeatureInfo::getName)
                .toList();
        assertTrue(settings.containsAll(List.of("Encrypted", "PassphraseFile")), settings::toString);
        assertFalse(settings.contains("PassphraseCommand"), "a careless administrator has the passphrase in it");
        for (String command : List.of("scrub start --wait", "heal --wait", "check", "gc --wait", "status")) {
            assertEquals(0, cli(command.split(" ")), () -> command + ": " + out + err);
        }
        json("metadata-backup", folder.resolve("backups").toString());
        assertEquals(0, readCoreDumpParts() & 3, "no core dump has anonymous memory, private or shared");
        close();

        assertEquals(List.of(), foldersWith(contents()));
        assertEquals(List.of(), foldersWith(fingerprints()));
        assertEquals(List.of(folder.resolve("old")), filesWith(folder, List.of(FIRST)));
        assertEquals(List.of(folder.resolve("secret")), filesWith(folder, List.of(SECOND)));
        assertTrue(SDFSLogger.LINES.stream().anyMatch(line -> line.contains("sdfscli pool0 key export FILE")));
        assertTrue(SDFSLogger.LINES.stream().noneMatch(line -> line.contains(FIRST) || line.contains(SECOND)));

        checkWithoutAMount();
        assertRefused("opens no slot", FIRST);
        readAll(open(), locations);
        loseTheHeader();
        opened = open();
        readAll(opened, locations);
        deleteTheStore(opened);
    }

    private void deleteTheStore(PluginEngine opened) throws IOException {
        close();
        Path link = Files.createLink(folder.resolve("link"), store.resolve("sar/data/volume.keys"));
        byte[] header = Files.readAllBytes(link);
        opened.delete();
        assertFalse(Files.exists(store.resolve("sar/data")));
        assertFalse(Arrays.equals(header, Files.readAllBytes(link)), "it is overwritten, not only deleted");
    }

    private void assertRefused(String because, String passphrase) throws IOException {
        Path right = Files.move(folder.resolve("secret"), folder.resolve("kept"));
        secret("secret", passphrase);
        assertRefused(because);
        Files.move(right, folder.resolve("secret"), StandardCopyOption.REPLACE_EXISTING);
    }

    /** By commands, while SDFS has the volume mounted. */
    private void changeThePassphrase() throws IOException {
        Path old = secret("old", FIRST);
        Path secret = secret("secret", SECOND);
        assertEquals(1, Json.objects(json("key", "list"), "slots").size());
        assertEquals(ExitCode.NO_KEY, cli("key", "test"), "nobody can type it");
        json("key", "change", "--passphrase-file=" + old, "--new-passphrase-file=" + secret);
        assertEquals(ExitCode.NO_KEY, cli("key", "test", "--passphrase-file=" + old));
        json("key", "add", "--passphrase-file=" + secret, "--new-key-file=" + secret("key", "any bytes"));
        json("key", "export", folder.resolve("export").toString(), "--passphrase-file=" + secret);
        json("key", "remove", "1", "--passphrase-file=" + secret);
        assertEquals(
                List.of("test", "change", "test", "add", "export", "remove"),
                Json.objects(json("audit"), "lines").stream()
                        .filter(line -> line.get("what").equals("key"))
                        .map(line -> Json.object(line, "arguments").get("action"))
                        .toList());

        Files.delete(store.resolve("sar/metadata/volume.keys"));
        assertEquals(ExitCode.FAILED, cli("status"));
        assertTrue(out.toString().contains("has not two good copies"), out::toString);
        json("key", "test", "--passphrase-file=" + secret);
        assertTrue(Files.exists(store.resolve("sar/metadata/volume.keys")));
    }

    private void checkWithoutAMount() throws IOException {
        String right = "--passphrase-file=" + folder.resolve("secret");
        assertEquals(ExitCode.NO_KEY, check());
        assertEquals(ExitCode.NO_KEY, check("--passphrase-file=" + folder.resolve("old")));
        for (String command : List.of("--json", "--rebuild-containers", "--salvage-metadata")) {
            assertEquals(ExitCode.OK, check(command, right), () -> command + ": " + out + err);
        }
        assertEquals(ExitCode.OK, check("--restore-metadata=" + folder.resolve("backups") + "/", right), err::toString);
    }

    /** Both copies; and the index, which the next mount makes anew. */
    private void loseTheHeader() throws IOException {
        json("metadata-backup", "--accept-restored");
        close();
        Files.delete(store.resolve("sar/metadata/volume.keys"));
        Files.delete(store.resolve("sar/data/volume.keys"));
        deleteBelow(store.resolve("index"));
        assertRefused("there is no key header");
        Map<String, Object> made = json(
                "key",
                "add",
                "--from-export=" + folder.resolve("export"),
                "--new-passphrase-file=" + folder.resolve("secret"));
        assertEquals(1, Json.objects(made, "slots").size());
    }

    private static void deleteBelow(Path top) throws IOException {
        try (Stream<Path> files = Files.walk(top)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Files.delete(file);
            }
        }
    }

    @Test
    void aVolumeIsEncryptedFromItsBeginningOrNeverAndTheVolumeFileSaysSo() throws Exception {
        writeFile(PLAIN);
        PluginEngine opened = open();
        long[] locations = put(opened);
        readAll(opened, locations);
        readAll(opened, locations);
        assertEquals(ExitCode.FAILED, cli("key", "list"));
        assertTrue(err.toString().contains("only sar-plugin enable --encrypt makes"), err::toString);
        close();
        // The control of the other test.
        assertEquals(List.of("sar/data", "ssd"), foldersWith(contents()));
        assertTrue(
                foldersWith(fingerprints()).containsAll(List.of("sar/data", "index")),
                () -> "fingerprints are visible");
        assertEquals(ExitCode.FAILED, check("--passphrase-file=" + secret("secret", FIRST)));
        assertTrue(err.toString().contains("is not encrypted, and a passphrase or key is given"), err::toString);

        writeFile(encrypted());
        assertRefused("A volume that was made without sar-encrypt cannot be encrypted later");
        assertEquals(ExitCode.DAMAGED, check("--passphrase-file=" + folder.resolve("secret")));
        writeFile(PLAIN);
        readAll(open(), locations);
        close();

        // Another volume, in which SDFS has no files yet.
        Files.move(folder.resolve("ddb"), folder.resolve("maps of the first"));
        store = folder.resolve("others");
        writeFile(encrypted().replace("passphrase", "key"));
        open();
        close();
        writeFile(PLAIN);
        assertRefused("does not say that the volume is encrypted");
        assertRefused("set sar-encrypt=\"true\"");
        assertEquals(ExitCode.DAMAGED, check());
        writeFile("sar-encrypt=\"true\"");
        assertRefused("or set SDFS_PASSPHRASE");
        // A mistake, which no message repeats.
        writeFile("sar-passphrase=\"" + FIRST + "\"");
        assertRefused("there is no setting sar-passphrase");
        assertFalse(assertThrows(IOException.class, this::open).getMessage().contains(FIRST));
    }
}
