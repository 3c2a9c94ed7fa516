package org.opendedup.sar.keys;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.MemoryFolder;

/** A key header in an object store, which the machines of a volume change. */
class StoredKeyHeaderTest {
    private static final Argon2Cost CHEAP = new Argon2Cost(64, 1, 1);

    @MemoryFolder
    Path folder;

    private final byte[] master = KeyHeader.newMaster();
    private String store;
    private KeyHeader header;

    @BeforeEach
    void makeAHeader() throws IOException {
        store = "file://" + Files.createDirectories(folder.resolve("store"));
        header = KeyHeader.create(
                UUID.randomUUID(), KeyHeader.cipherOfMachine(), master, "", Instant.now(), CHEAP, secret("first"));
    }

    private static Secret secret(String passphrase) {
        return new Secret(Secret.Kind.PASSPHRASE, passphrase.getBytes(UTF_8));
    }

    private KeyHeaderCopies machine(String name) throws IOException {
        return KeyHeaderCopies.inStore(store, Files.createDirectories(folder.resolve(name)));
    }

    private KeyHeader withSlot(KeyHeader before, String passphrase) throws IOException {
        return before.withSlot(master, "", Instant.now(), CHEAP, secret(passphrase));
    }

    @Test
    void aMachineThatComesLaterGetsTheNewestAndWritesItsOwnCopy() throws IOException {
        assertEquals(List.of(), machine("first").write(header, null));
        assertEquals(
                List.of(),
                machine("second").repair(header, master).stream()
                        .filter(file -> file.startsWith(store))
                        .toList());
        KeyHeader changed = withSlot(header, "second");
        assertEquals(List.of(), machine("second").write(changed, header));
        KeyHeaderCopies.Found found = machine("first").read(header.volume());
        assertArrayEquals(changed.bytes(), found.header().bytes());
        assertEquals(1, found.faults().size(), "the copy of the first machine is older");
        try (KeyHeaderCopies.Unlocked opened = found.open(secret("second"))) {
            assertEquals(1, machine("first").repair(opened.header(), master).size());
        }
        assertEquals(List.of(), machine("first").read(header.volume()).faults());
    }

    /** Its copy in the data location was not there when the secret was removed, and must not bring it back. */
    @Test
    void aSecretThatAnotherMachineHasRemovedOpensNoMore() throws IOException {
        KeyHeader two = withSlot(header, "second");
        assertEquals(List.of(), machine("first").write(two, null));
        KeyHeader removed = two.withoutSlot(master, 0, Instant.now());
        assertEquals(List.of(), machine("second").write(removed, two));
        assertThrows(
                KeyException.class, () -> machine("first").read(header.volume()).open(secret("first")));
    }

    @Test
    void ofTwoChangesAtTheSameTimeOneIsRefused() throws IOException {
        assertEquals(List.of(), machine("first").write(header, null));
        StoredKeyHeader one = new StoredKeyHeader(store);
        one.prepare(withSlot(header, "one"), header);
        KeyHeader other = withSlot(header, "other");
        assertEquals(List.of(), machine("second").write(other, header));
        IOException e = assertThrows(IOException.class, one::commit);
        assertTrue(e.getMessage().contains("run the command again"), e.getMessage());
        assertArrayEquals(other.bytes(), one.read());
        assertThrows(IOException.class, () -> one.prepare(header, header), "an older one takes no later one's place");
    }

    /** Who asks for a passphrase for a minute must not bring back what was removed meanwhile. */
    @Test
    void aChangeOfAHeaderThatAnotherMachineHasChangedSinceIsRefused() throws IOException {
        KeyHeader two = withSlot(header, "second");
        assertEquals(List.of(), machine("first").write(two, null));
        KeyHeader removed = two.withoutSlot(master, 0, Instant.now());
        assertEquals(List.of(), machine("second").write(removed, two));
        KeyHeader later = two.withSlot(master, "", Instant.now().plusSeconds(60), CHEAP, secret("third"));
        IOException e = assertThrows(IOException.class, () -> machine("first").write(later, two));
        assertTrue(e.getMessage().contains("run the command again"), e.getMessage());
        assertArrayEquals(removed.bytes(), new StoredKeyHeader(store).read());
        assertThrows(IOException.class, () -> machine("third").write(later, null), "there is one already");
    }

    /** Who may write to the store and has no key can write a header of any generation. */
    @Test
    void aForgedHeaderOfALaterGenerationIsWrittenAnew() throws IOException {
        assertEquals(List.of(), machine("first").write(header, null));
        KeyHeader forged = KeyHeader.create(
                header.volume(),
                header.cipher(),
                KeyHeader.newMaster(),
                "",
                Instant.now().plusSeconds(60),
                CHEAP,
                secret("forged"));
        StoredKeyHeader place = new StoredKeyHeader(store);
        place.prepare(forged, header);
        place.commit();
        try (KeyHeaderCopies.Unlocked opened =
                machine("first").read(header.volume()).open(secret("first"))) {
            assertEquals(
                    List.of(place.file()),
                    machine("first").repair(opened.header(), opened.opened().master()));
        }
        assertArrayEquals(header.bytes(), place.read());
    }

    /** A store says no version of it, so it is deleted first. */
    @Test
    void aDamagedObjectIsWrittenAnewWhenItIsDeleted() throws IOException {
        assertEquals(List.of(), machine("first").write(header, null));
        Path object;
        try (Stream<Path> files = Files.list(folder.resolve("store"))) {
            object = files.filter(file -> file.getFileName().toString().startsWith(KeyHeader.NAME))
                    .findFirst()
                    .orElseThrow();
        }
        byte[] bytes = Files.readAllBytes(object);
        bytes[KeyHeader.NAME.length()] ^= 1;
        Files.write(object, bytes);
        KeyHeaderCopies.Found found = machine("first").read(header.volume());
        assertEquals(1, found.faults().size(), found.faults()::toString);
        assertArrayEquals(header.bytes(), found.header().bytes());
        IOException e = assertThrows(IOException.class, () -> machine("first").repair(header, master));
        assertTrue(e.getMessage().contains(KeyHeader.NAME), e.getMessage());
        Files.delete(object);
        assertEquals(1, machine("first").repair(header, master).size());
        assertEquals(List.of(), machine("first").read(header.volume()).faults());
    }

    @Test
    void nothingIsChangedIfTheStoreIsGone() throws IOException {
        KeyHeaderCopies copies = machine("first");
        assertEquals(List.of(), copies.write(header, null));
        Files.move(folder.resolve("store"), folder.resolve("gone"));
        assertThrows(IOException.class, () -> copies.write(withSlot(header, "second"), header));
        assertArrayEquals(
                header.bytes(),
                KeyHeaderCopies.inFolder(folder.resolve("first"))
                        .read(null)
                        .header()
                        .bytes());
    }
}
