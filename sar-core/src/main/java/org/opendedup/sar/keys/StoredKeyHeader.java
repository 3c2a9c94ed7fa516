package org.opendedup.sar.keys;

import java.io.IOException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.objects.ObjectStore;
import org.opendedup.sar.objects.ReplaceableObjects;
import org.opendedup.sar.objects.VersionChangedException;
import org.opendedup.sar.objects.reliable.Limits;
import org.opendedup.sar.objects.reliable.ReliableObjectStore;

/**
 * The copy of a key header in the object store of its volume. It is replaced only if it is not later than the header
 * from which the new one was made, and nobody else replaces it meanwhile: so of two machines that change the keys at
 * the same time, one gets an error that says to repeat it. The time for which it asked for a passphrase does not
 * matter.
 */
final class StoredKeyHeader implements KeyHeaderPlace {
    /** A command that waits longer looks as if it hung. */
    private static final Limits LIMITS = Limits.DEFAULT.withPatience(Duration.ofSeconds(20));

    private final String address;
    private @Nullable KeyHeader prepared;
    /** The version of the object that the prepared header replaces; null: there is none. */
    private @Nullable String replaced;

    StoredKeyHeader(String address) {
        this.address = address;
    }

    /** What is done with the objects of the store. */
    @FunctionalInterface
    private interface Use<T> {
        T of(ReplaceableObjects objects) throws IOException;
    }

    private <T> T use(Use<T> use) throws IOException {
        try (ObjectStore store = ReliableObjectStore.open(address, LIMITS)) {
            return use.of(store.replaceable()
                    .orElseThrow(() -> new IOException(store + " cannot replace objects under a condition")));
        }
    }

    private Optional<ReplaceableObjects.Version> current() throws IOException {
        return use(objects -> objects.current(KeyHeader.NAME));
    }

    @Override
    public String name() {
        return address;
    }

    @Override
    public @Nullable String missing() {
        return null;
    }

    @Override
    public boolean exists() throws IOException {
        return current().isPresent();
    }

    @Override
    public byte @Nullable [] read() throws IOException {
        return current().map(ReplaceableObjects.Version::contents).orElse(null);
    }

    @Override
    public void prepare(KeyHeader header, @Nullable KeyHeader before) throws IOException {
        Optional<ReplaceableObjects.Version> now = current();
        if (now.isPresent() && isLater(now.get().contents(), before)) {
            throw changed();
        }
        replaced = now.map(ReplaceableObjects.Version::version).orElse(null);
        prepared = header;
    }

    private static boolean isLater(byte[] bytes, @Nullable KeyHeader before) {
        try {
            KeyHeader present = KeyHeader.read(bytes);
            return before == null || present.generation() > before.generation();
        } catch (IOException damaged) {
            return false;
        }
    }

    private IOException changed() {
        return new IOException(
                "another machine has changed the key header in " + address + " meanwhile; run the command again");
    }

    @Override
    public void commit() throws IOException {
        byte[] bytes = Objects.requireNonNull(prepared).bytes();
        try {
            use(objects -> objects.replace(KeyHeader.NAME, replaced, UUID.randomUUID(), bytes));
        } catch (VersionChangedException e) {
            IOException told = changed();
            told.addSuppressed(e);
            throw told;
        } finally {
            discard();
        }
    }

    /** What is replaced is durable. */
    @Override
    public void sync() {}

    @Override
    public void discard() {
        prepared = null;
        replaced = null;
    }
}
