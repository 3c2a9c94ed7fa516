package org.opendedup.sar.volume;

import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.Set;
import org.opendedup.sar.index.ChunkIndex;
import org.opendedup.sar.io.CrashDirectory;
import org.opendedup.sar.io.Directory;
import org.opendedup.sar.io.Input;
import org.opendedup.sar.io.Output;
import org.opendedup.sar.io.RandomFile;
import org.opendedup.sar.metadata.CrashKeyValueStore;
import org.opendedup.sar.metadata.db.KeyValueStore;
import org.opendedup.sar.raw.RawFolder;

/** Leads every call of a volume's stores that can fail through a hook, which may do something else instead. */
public final class HookedStores {
    /** The calls that change what a crash leaves. Reserving space is not among them: a crash may undo it anyway. */
    private static final Set<String> CHANGES =
            Set.of("create", "append", "force", "trim", "release", "delete", "rename", "sync", "commit");

    private static final Set<String> CHANGES_OF_RAW_FILES =
            Set.of("create", "write", "truncate", "allocate", "zero", "setModified", "force", "delete", "sync");

    /** @param file name of the file, or of the family of records; empty if there is none */
    public record Call(Object target, Method method, Object[] arguments, String file) {
        public String what() {
            return method.getName();
        }

        boolean isChange() {
            if (isOfRawFiles()) {
                return CHANGES_OF_RAW_FILES.contains(what());
            }
            return CHANGES.contains(what()) && !(isOfMetadata() && what().equals("delete"));
        }

        boolean isOfMetadata() {
            return target instanceof KeyValueStore
                    || target instanceof KeyValueStore.Batch
                    || target instanceof KeyValueStore.Cursor;
        }

        public boolean isOfRawFiles() {
            return target instanceof RawFolder || target instanceof RandomFile;
        }

        /** Makes the call. */
        public Object proceed() throws IOException {
            try {
                method.setAccessible(true);
                return method.invoke(target, arguments);
            } catch (InvocationTargetException e) {
                if (e.getCause() instanceof IOException io) {
                    throw io;
                }
                throw e.getCause() instanceof RuntimeException unchecked
                        ? unchecked
                        : new IllegalStateException(e.getCause());
            } catch (IllegalAccessException e) {
                throw new IllegalStateException(e);
            }
        }

        /**
         * Makes a part of the call, as a power cut during it does.
         *
         * @param data the files that the call changes, if it is one of them
         * @param metadata the database that it changes, if it is one of that
         * @param whileReleasing runs when a part of a range is released
         */
        void proceedInPart(CrashDirectory data, CrashKeyValueStore metadata, Runnable whileReleasing)
                throws IOException {
            switch (what()) {
                // Any part of these may be durable anyway.
                case "force", "sync" -> {}
                case "release" -> {
                    data.duringReleases(whileReleasing);
                    proceed();
                }
                case "commit" -> {
                    metadata.failNextCommits(1);
                    try {
                        proceed();
                    } catch (IOException expected) {
                        return;
                    }
                    throw new AssertionError("a commit that should fail succeeded");
                }
                default -> proceed();
            }
        }

        @Override
        public String toString() {
            String store = isOfRawFiles() ? "raw " : isOfMetadata() ? "metadata " : "data ";
            return store + what() + " " + file;
        }
    }

    public interface Hook {
        /** Makes the call, or something else; returns its result. */
        Object around(Call call) throws IOException;
    }

    public volatile Hook hook = Call::proceed;

    Directory hooked(Directory directory) {
        return hooked(Directory.class, directory, "");
    }

    KeyValueStore hooked(KeyValueStore store) {
        return hooked(KeyValueStore.class, store, "");
    }

    ChunkIndex hooked(ChunkIndex index) {
        return hooked(ChunkIndex.class, index, "index");
    }

    public RawFolder hooked(RawFolder folder) {
        return hooked(RawFolder.class, folder, "");
    }

    private <T> T hooked(Class<T> type, T target, String file) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, method, arguments) -> {
                    boolean isNamed = target instanceof Directory
                            || target instanceof KeyValueStore
                            || target instanceof RawFolder;
                    String name = arguments != null && isNamed ? String.valueOf(arguments[0]) : file;
                    Call call = new Call(target, method, arguments, name);
                    boolean passes = method.getDeclaringClass() == Object.class
                            || method.getName().equals("close")
                            || method.getExceptionTypes().length == 0;
                    Object result = passes ? call.proceed() : hook.around(call);
                    return hookedResult(result, name);
                }));
    }

    private Object hookedResult(Object result, String file) {
        if (result instanceof Output output) {
            return hooked(Output.class, output, file);
        } else if (result instanceof Input input) {
            return hooked(Input.class, input, file);
        } else if (result instanceof RandomFile random) {
            return hooked(RandomFile.class, random, file);
        } else if (result instanceof KeyValueStore.Batch batch) {
            return hooked(KeyValueStore.Batch.class, batch, file);
        } else if (result instanceof KeyValueStore.Cursor cursor) {
            return hooked(KeyValueStore.Cursor.class, cursor, file);
        }
        return result;
    }
}
