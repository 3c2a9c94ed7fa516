package org.opendedup.sar.container;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.opendedup.sar.common.ContainerChanges;
import org.opendedup.sar.common.StoredContainer;
import org.opendedup.sar.common.StoredContainer.State;
import org.opendedup.sar.common.Writing;
import org.opendedup.sar.container.format.PackFormat;
import org.opendedup.sar.io.CrashDirectory;

/** Which packs are missing, while a collection moves containers and deletes a pack. */
final class MissingPacksTest {
    private static final long CONTAINER = 7;

    private final CrashDirectory disk = new CrashDirectory(1);
    private final HeapContainerTable table = new HeapContainerTable();

    private void putInto(long pack) {
        StoredContainer stored = new StoredContainer(new Writing(1, 0), State.SEALED, pack, 4096, 8192, 3, 100);
        table.commit(new ContainerChanges(Map.of(CONTAINER, stored), Set.of()));
    }

    /** Returns the table, with something that happens after each time it was read. */
    private ContainerClaims then(Runnable next) {
        return (ContainerClaims) Proxy.newProxyInstance(
                ContainerClaims.class.getClassLoader(),
                new Class<?>[] {ContainerClaims.class},
                (self, method, arguments) -> {
                    Object result = method.invoke(table, arguments);
                    next.run();
                    return result;
                });
    }

    private Map<Long, Long> missing(Runnable next) throws IOException {
        disk.put(PackFormat.fileName(2000), new byte[PackFormat.FIRST_CONTAINER]);
        putInto(1000);
        try (Packs packs = new Packs(disk, () -> 3000)) {
            return packs.missing(then(next));
        }
    }

    @Test
    void aPackThatACollectionDeletesMeanwhileIsNotMissing() throws IOException {
        assertEquals(Map.of(), missing(() -> putInto(2000)));
    }

    /** The control. */
    @Test
    void aPackThatTheTableStillNamesIsMissing() throws IOException {
        assertEquals(Map.of(1000L, 1L), missing(() -> {}));
    }
}
