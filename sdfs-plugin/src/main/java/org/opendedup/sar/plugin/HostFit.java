package org.opendedup.sar.plugin;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.opendedup.collections.AbstractHashesMap;
import org.opendedup.collections.InsertRecord;
import org.opendedup.sdfs.filestore.AbstractChunkStore;
import org.opendedup.sdfs.filestore.ChunkData;
import org.opendedup.sdfs.notification.SDFSEvent;

/**
 * Whether the SDFS that has loaded the plugin has the methods for which it was made. A version that has others would
 * load it and mount, and fail at the first write, again and again.
 */
final class HostFit {
    private HostFit() {}

    /**
     * Requires that it has, and that it calls only what the plugin has.
     *
     * @throws IOException if not; the message says what is missing, and which versions have it
     */
    static void require(Class<? extends AbstractChunkStore> store, Class<? extends AbstractHashesMap> map)
            throws IOException {
        String lack = lack(store, AbstractChunkStore.class);
        if (lack == null) {
            lack = lack(map, AbstractHashesMap.class);
        }
        if (lack == null) {
            lack = lack(InsertRecord.class, ChunkData.class, SDFSEvent.class);
        }
        if (lack != null) {
            throw new IOException("this version of SDFS does not fit: the plugin and SDFS do not both have " + lack
                    + ". The plugin is made for SDFS's master branch of July and August 2022 (from commit c6d2167d on),"
                    + " not for the release 3.12.0. Nothing was made");
        }
    }

    /** Returns a method that SDFS calls and a class of the plugin does not have; null if there is none. */
    static @Nullable String lack(Class<?> ours, Class<?> called) {
        for (Method method : called.getMethods()) {
            if (Modifier.isAbstract(method.getModifiers())
                    && !has(ours, method.getReturnType(), method.getName(), method.getParameterTypes())) {
                return text(called, method.getReturnType(), method.getName(), method.getParameterTypes());
            }
        }
        return null;
    }

    /** Returns what the plugin uses of SDFS's classes and they do not have; null if there is nothing. */
    static @Nullable String lack(Class<?> insertRecord, Class<?> chunkData, Class<?> event) {
        Object[][] used = {
            {insertRecord, byte[].class, "getHashLocs"},
            {chunkData, byte[].class, "getHash"},
            {chunkData, byte[].class, "getData"},
            {chunkData, int.class, "getcLen"},
            {chunkData, void.class, "setcPos", long.class},
            {event, void.class, "setMaxCount", long.class},
            {event, void.class, "addCount", long.class},
        };
        for (Object[] method : used) {
            Class<?>[] parameters = Arrays.copyOfRange(method, 3, method.length, Class[].class);
            if (!has((Class<?>) method[0], (Class<?>) method[1], (String) method[2], parameters)) {
                return text((Class<?>) method[0], (Class<?>) method[1], (String) method[2], parameters);
            }
        }
        try {
            var unusedRecord = insertRecord.getConstructor(boolean.class, long.class, int.class);
            var unusedChunk = chunkData.getConstructor(byte[].class, long.class);
            if (chunkData.getField("references").getType() == long.class
                    && chunkData.getField("uuid").getType() == String.class) {
                return null;
            }
            return "the fields references and uuid of " + chunkData.getName();
        } catch (ReflectiveOperationException e) {
            return String.valueOf(e.getMessage());
        }
    }

    private static boolean has(Class<?> type, Class<?> result, String name, Class<?>... parameters) {
        return Arrays.stream(type.getMethods())
                .anyMatch(method -> method.getReturnType() == result
                        && method.getName().equals(name)
                        && !Modifier.isAbstract(method.getModifiers())
                        && Arrays.equals(method.getParameterTypes(), parameters));
    }

    private static String text(Class<?> type, Class<?> result, String name, Class<?>... parameters) {
        return result.getSimpleName() + " " + name
                + Arrays.stream(parameters).map(Class::getSimpleName).collect(Collectors.joining(", ", "(", ")"))
                + " of " + type.getName();
    }
}
