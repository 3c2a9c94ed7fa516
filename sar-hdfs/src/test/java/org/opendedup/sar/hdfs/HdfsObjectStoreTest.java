package org.opendedup.sar.hdfs;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;
import org.opendedup.sar.TestWait;
import org.opendedup.sar.disks.Commands;
import org.opendedup.sar.io.NoAnswer;
import org.opendedup.sar.io.UnavailableException;
import org.opendedup.sar.objects.ObjectSource;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ObjectStoreContract;
import org.opendedup.sar.objects.ObjectStores;

/** The contract over HDFS: a NameNode and a DataNode in a JVM of their own. */
class HdfsObjectStoreTest extends ObjectStoreContract {
    private static final Pattern PORT = Pattern.compile("\"namenode_port\":\\s*([0-9]+)");

    @MemoryFolder
    static Path folder;

    private static Process cluster;
    private static String address;

    @BeforeAll
    static void start() throws IOException {
        Path details = folder.resolve("details");
        Path classes = Commands.projectFolder().resolve("sar-hdfs/target/tests");
        cluster = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin/java").toString(),
                        "-Xmx512m",
                        "-XX:TieredStopAtLevel=1",
                        "-Djava.io.tmpdir=" + folder,
                        "-cp",
                        classes + "/*",
                        "org.apache.hadoop.test.MiniDFSClusterManager",
                        "-format",
                        "-D",
                        "hdfs.minidfs.basedir=" + folder.resolve("dfs"),
                        "-writeDetails",
                        details.toString())
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        TestWait.until(() -> {
            if (!cluster.isAlive()) {
                throw new IOException("the cluster ended: " + Files.readString(folder.resolve("log")));
            }
            return Files.exists(details)
                    && PORT.matcher(Files.readString(details)).find();
        });
        Matcher port = PORT.matcher(Files.readString(details));
        port.find();
        address = "hdfs://localhost:" + port.group(1);
    }

    @AfterAll
    static void stop() throws Exception {
        if (cluster != null) {
            cluster.destroyForcibly();
            cluster.waitFor(1, TimeUnit.MINUTES);
        }
    }

    private static FileContext files() throws IOException {
        return FileContext.getFileContext(URI.create(address), new Configuration());
    }

    @Override
    protected ObjectStore newStore() throws IOException {
        String store = "/stores/" + UUID.randomUUID();
        files().mkdir(new org.apache.hadoop.fs.Path(store), FileContext.DIR_DEFAULT_PERM, true);
        return ObjectStores.open(address + store);
    }

    /** A put is five calls of the NameNode. */
    @Override
    protected int manyNames() {
        return 400;
    }

    @Test
    void aFolderThatIsMissingIsNotMade() {
        assertThrows(NoSuchFileException.class, () -> ObjectStores.open(address + "/none"));
        assertThrows(IllegalArgumentException.class, () -> ObjectStores.open("hdfs:///none"));
        assertThrows(IllegalArgumentException.class, () -> ObjectStores.open("hdfs://localhost/none?a=b"));
    }

    @Test
    void whoDoesNotAnswerIsUnavailable() {
        assertThrows(UnavailableException.class, () -> ObjectStores.open("hdfs://localhost:9/none"));
    }

    /** The commands run in the newest Java of the machine, tests in that of the build. */
    @Test
    void theClientRunsInTheJavaOfTheCommands() throws Exception {
        String chosen = "source " + Commands.projectFolder() + "/scripts/java.bash && exec \"$(find_java)\" -cp \"$0\" "
                + TimedShell.class.getName() + " -ls \"$1\"";
        Process client = new ProcessBuilder("bash", "-c", chosen, System.getProperty("java.class.path"), address + "/")
                .redirectErrorStream(true)
                .start();
        String said = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, client.waitFor(), said);
    }

    @Test
    void filesAreThoseOfAFolder() throws IOException {
        store().put("a/b", ObjectSource.of(new byte[] {1, 2, 3}));
        org.apache.hadoop.fs.Path file = new org.apache.hadoop.fs.Path(store() + "/a/b~");
        assertEquals(43, files().getFileStatus(file).getLen());
        assertEquals("rw-------", files().getFileStatus(file).getPermission().toString());
        assertEquals(List.of("a/b"), store().list("", "", 10).names());
    }

    /** Puts an object, and returns the files in which the DataNode has its block. */
    private List<Path> blocksOf(String object, byte[] bytes) throws IOException {
        store().put(object, ObjectSource.of(bytes));
        long withTrailer = bytes.length + 40;
        List<Path> blocks = new ArrayList<>();
        TestWait.until(() -> {
            blocks.clear();
            try (Stream<Path> all = Files.walk(folder.resolve("dfs"))) {
                all.filter(file -> file.getFileName().toString().matches("blk_[0-9]+"))
                        .filter(file -> file.toFile().length() == withTrailer)
                        .forEach(blocks::add);
                return true;
            } catch (UncheckedIOException e) {
                // The DataNode deletes blocks of other objects some time after these.
                return false;
            }
        });
        assertEquals(1, blocks.size());
        return blocks;
    }

    /**
     * Waiting brings no byte back: a scrub must get past it, and name the files. The block has one copy: of damage to
     * each of several, Hadoop's client tells the NameNode nothing (docs/SCALE.md).
     */
    @Test
    void aBlockOfWhichEachCopyIsDamagedIsDamage() throws IOException {
        byte[] bytes = new byte[123_456];
        List<Path> copies = blocksOf("damaged", bytes);
        try (FileChannel copy = FileChannel.open(copies.get(0), StandardOpenOption.WRITE)) {
            copy.write(ByteBuffer.wrap(new byte[] {1}), 60_000);
        }
        IOException damage =
                assertThrows(IOException.class, () -> store().read("damaged", 0, ByteBuffer.allocate(bytes.length)));
        assertFalse(NoAnswer.is(damage), damage::toString);
    }

    /** A DataNode with a copy may come back. */
    @Test
    void controlABlockThatIsMissingIsNoDamage() throws IOException {
        byte[] bytes = new byte[123_457];
        for (Path copy : blocksOf("missing", bytes)) {
            Files.delete(copy);
        }
        IOException away =
                assertThrows(IOException.class, () -> store().read("missing", 0, ByteBuffer.allocate(bytes.length)));
        assertTrue(NoAnswer.is(away), away::toString);
    }
}
