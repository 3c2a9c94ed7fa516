package org.opendedup.sar.sdfs.jmx;

import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.lang.invoke.MethodType;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import javax.management.Attribute;
import javax.management.AttributeList;
import javax.management.AttributeNotFoundException;
import javax.management.DynamicMBean;
import javax.management.ImmutableDescriptor;
import javax.management.InvalidAttributeValueException;
import javax.management.ListenerNotFoundException;
import javax.management.MBeanAttributeInfo;
import javax.management.MBeanInfo;
import javax.management.MBeanNotificationInfo;
import javax.management.MBeanOperationInfo;
import javax.management.MBeanParameterInfo;
import javax.management.NotificationBroadcasterSupport;
import javax.management.NotificationEmitter;
import javax.management.NotificationFilter;
import javax.management.NotificationListener;
import javax.management.ReflectionException;
import org.jspecify.annotations.Nullable;
import org.opendedup.sar.common.Figure;
import org.opendedup.sar.sdfs.config.VolumeOption;

/**
 * A bean whose attributes are the {@link Figure}s of records of statistics. Settings and operations are added by name.
 * Reading an attribute throws {@link java.io.UncheckedIOException} if the volume cannot return it. A setter throws an
 * {@link IllegalArgumentException} for a value that is not allowed; its message names the allowed values.
 */
public final class RecordBean implements DynamicMBean, NotificationEmitter {
    private final String description;
    private final NotificationEmitter emitter;
    private final Map<String, Value> attributes = new LinkedHashMap<>();
    private final Map<String, Operation> operations = new LinkedHashMap<>();

    private record Value(
            Class<?> type,
            MBeanAttributeInfo info,
            Supplier<?> get,
            @Nullable Consumer<@Nullable Object> set) {}

    private record Operation(MBeanOperationInfo info, List<Parameter> parameters, Function<Object[], ?> run) {}

    /** The allowed values of a setting or parameter, as the fields of its descriptor. */
    public record Limits(Map<String, Object> fields) {
        public static final Limits NONE = new Limits(Map.of());

        /** Returns those with which an option is declared. */
        public static Limits of(VolumeOption<?> option) {
            if (option.least().orElse(null) instanceof Number least) {
                return range(
                        least.longValue(),
                        option.most().orElse(null) instanceof Number most ? most.longValue() : Long.MAX_VALUE);
            }
            // JMX knows the two values of a boolean.
            return option.choices().isEmpty() || option.byDefault().orElse(null) instanceof Boolean
                    ? NONE
                    : oneOf(option.choices().toArray(String[]::new));
        }

        public static Limits range(long least, long most) {
            // As text, which consoles convert to numbers of the attribute's type.
            return new Limits(Map.of("minValue", Long.toString(least), "maxValue", Long.toString(most)));
        }

        public static Limits oneOf(String... values) {
            return new Limits(Map.of("legalValues", values));
        }
    }

    /** What an operation does, for those who decide who may call it. */
    public enum Effect {
        /** Changes nothing. */
        LOOKS,
        /** Changes the volume. */
        CHANGES,
        /** Reads or writes at a place of the machine that the caller names. */
        REACHES_THE_MACHINE;

        /** Name of the field of an operation's descriptor that has the effect. */
        public static final String FIELD = "effect";
    }

    /** What an operation takes. */
    public record Parameter(Class<?> type, String name, String text, String unit, Limits limits) {}

    /** @param description what the bean is about */
    public RecordBean(String description) {
        this(description, new NotificationBroadcasterSupport());
    }

    /** @param emitter sends the bean's notifications */
    RecordBean(String description, NotificationEmitter emitter) {
        this.description = description;
        this.emitter = emitter;
    }

    /** Adds the figures of a record. */
    public <R extends Record> RecordBean figures(Class<R> type, Supplier<R> record) {
        return figures(type, "", record);
    }

    /**
     * Adds those figures of a record whose names begin with a prefix, without it.
     *
     * @param prefix may be empty
     */
    public <R extends Record> RecordBean figures(Class<R> type, String prefix, Supplier<R> record) {
        return figures(type, prefix, "", record);
    }

    /** As {@link #figures(Class, String, Supplier)}; the names in JMX begin with {@code before}. */
    <R extends Record> RecordBean figures(Class<R> type, String prefix, String before, Supplier<R> record) {
        add(type, prefix, before, "", record);
        return this;
    }

    /**
     * @param before begins the names
     * @param about what the figures are about
     */
    private void add(Class<?> type, String prefix, String before, String about, Supplier<?> record) {
        for (RecordComponent component : type.getRecordComponents()) {
            Supplier<Object> value = () -> value(component, record.get());
            Figure figure = component.getAnnotation(Figure.class);
            if (component.getAccessor().isAnnotationPresent(JsonUnwrapped.class)) {
                add(component.getType(), prefix, before, about, value);
            } else if (figure != null && component.getName().startsWith(prefix)) {
                String own = figure.name().isEmpty()
                        ? capitalized(component.getName().substring(prefix.length()))
                        : figure.name();
                if (component.getType().isRecord()) {
                    add(component.getType(), "", before + own, figure.value(), value);
                } else {
                    String text = figure.value().replace("%s", about);
                    put(component.getType(), before + own, text, figure.unit(), Limits.NONE, value, null);
                }
            }
        }
    }

    static Object value(RecordComponent component, Object record) {
        try {
            return component.getAccessor().invoke(record);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(component + " cannot be read", e);
        }
    }

    static String capitalized(String name) {
        return name.isEmpty() ? name : name.substring(0, 1).toUpperCase(Locale.ROOT) + name.substring(1);
    }

    /** Adds an attribute that is no figure of a record. */
    public <T> RecordBean attribute(Class<T> type, String name, String text, String unit, Supplier<T> value) {
        put(type, name, text, unit, Limits.NONE, value, null);
        return this;
    }

    /** Adds an attribute that clients may change. A client may set a text to null. */
    public <T> RecordBean setting(
            Class<T> type,
            String name,
            String text,
            String unit,
            Limits limits,
            Supplier<T> value,
            Consumer<@Nullable T> change) {
        put(
                type,
                name,
                text,
                unit,
                limits,
                value,
                changed -> change.accept(boxed(type).cast(changed)));
        return this;
    }

    private void put(
            Class<?> declared,
            String name,
            String text,
            String unit,
            Limits limits,
            Supplier<?> value,
            @Nullable Consumer<@Nullable Object> change) {
        Class<?> type = shown(declared);
        var info = new MBeanAttributeInfo(
                name,
                type.getName(),
                described(text, unit),
                true,
                change != null,
                type == boolean.class,
                descriptor(unit, limits));
        attributes.put(name, new Value(type, info, value, change));
    }

    /** Returns the type in JMX, whose clients need not know lists. */
    private static Class<?> shown(Class<?> declared) {
        return declared == List.class ? String[].class : declared;
    }

    private static @Nullable Object shown(@Nullable Object value) {
        return value instanceof List<?> list
                ? list.stream().map(String::valueOf).toArray(String[]::new)
                : value;
    }

    /** Returns the text with the unit, because most consoles show no descriptors. */
    private static String described(String text, String unit) {
        return text + " (" + unit + ")";
    }

    boolean hasAttribute(String name) {
        return attributes.containsKey(name);
    }

    /** Returns how JMX describes an attribute. */
    MBeanAttributeInfo attributeInfo(String name) {
        Value value = attributes.get(name);
        if (value == null) {
            throw new IllegalArgumentException("there is no attribute " + name);
        }
        return value.info;
    }

    /** Returns the settings, with what is allowed. */
    List<SettingFigures> settings(String kind) {
        return attributes.values().stream()
                .filter(value -> value.set != null)
                .map(value -> SettingFigures.of(kind, value.info, plainText(value.info), value.get.get()))
                .toList();
    }

    /** Returns what an attribute means, without the unit. */
    static String plainText(MBeanAttributeInfo info) {
        String unit = " (" + info.getDescriptor().getFieldValue("units") + ")";
        String text = info.getDescription();
        return text.endsWith(unit) ? text.substring(0, text.length() - unit.length()) : text;
    }

    private static ImmutableDescriptor descriptor(String unit, Limits limits) {
        Map<String, Object> fields = new HashMap<>(limits.fields);
        fields.put("units", unit);
        return new ImmutableDescriptor(fields);
    }

    /** Adds an operation without parameters and result. */
    public RecordBean operation(String name, String text, Runnable action) {
        return operation(void.class, name, text, "none", List.of(), arguments -> {
            action.run();
            return null;
        });
    }

    /** As the following, for an operation that changes the volume. */
    public RecordBean operation(
            Class<?> type,
            String name,
            String text,
            String unit,
            List<Parameter> parameters,
            Function<Object[], @Nullable Object> run) {
        return operation(Effect.CHANGES, type, name, text, unit, parameters, run);
    }

    /**
     * Adds an operation.
     *
     * @param type of the result
     * @param unit of the result
     */
    public RecordBean operation(
            Effect effect,
            Class<?> type,
            String name,
            String text,
            String unit,
            List<Parameter> parameters,
            Function<Object[], @Nullable Object> run) {
        MBeanParameterInfo[] signature = parameters.stream()
                .map(parameter -> new MBeanParameterInfo(
                        parameter.name,
                        parameter.type.getName(),
                        described(parameter.text, parameter.unit),
                        descriptor(parameter.unit, parameter.limits)))
                .toArray(MBeanParameterInfo[]::new);
        var info = new MBeanOperationInfo(
                name,
                described(text, unit),
                signature,
                shown(type).getName(),
                effect == Effect.LOOKS ? MBeanOperationInfo.INFO : MBeanOperationInfo.ACTION,
                descriptor(unit, new Limits(Map.of(Effect.FIELD, effect.name()))));
        operations.put(name, new Operation(info, parameters, run));
        return this;
    }

    @Override
    public MBeanInfo getMBeanInfo() {
        return new MBeanInfo(
                RecordBean.class.getName(),
                description,
                attributes.values().stream().map(Value::info).toArray(MBeanAttributeInfo[]::new),
                null,
                operations.values().stream().map(Operation::info).toArray(MBeanOperationInfo[]::new),
                emitter.getNotificationInfo(),
                new ImmutableDescriptor("immutableInfo=true"));
    }

    @Override
    public @Nullable Object getAttribute(String name) throws AttributeNotFoundException {
        return shown(value(name).get.get());
    }

    private Value value(String name) throws AttributeNotFoundException {
        Value value = attributes.get(name);
        if (value == null) {
            throw new AttributeNotFoundException("there is no attribute " + name);
        }
        return value;
    }

    @Override
    public void setAttribute(Attribute attribute) throws AttributeNotFoundException, InvalidAttributeValueException {
        Value value = value(attribute.getName());
        if (value.set == null) {
            throw new AttributeNotFoundException(attribute.getName() + " cannot be changed");
        }
        if (!fits(value.type, attribute.getValue())) {
            throw new InvalidAttributeValueException(attribute.getName() + " is a " + value.type.getName());
        }
        value.set.accept(attribute.getValue());
    }

    private static boolean fits(Class<?> type, @Nullable Object value) {
        return value == null ? !type.isPrimitive() : boxed(type).isInstance(value);
    }

    @SuppressWarnings("unchecked")
    private static <T> Class<T> boxed(Class<T> type) {
        return (Class<T>) MethodType.methodType(type).wrap().returnType();
    }

    /** Leaves out what cannot be read, as JMX wants it. */
    @Override
    public AttributeList getAttributes(String[] names) {
        var values = new AttributeList();
        for (String name : names) {
            try {
                values.add(new Attribute(name, getAttribute(name)));
            } catch (AttributeNotFoundException | RuntimeException e) {
                continue;
            }
        }
        return values;
    }

    /** Leaves out what cannot be set, as JMX wants it. */
    @Override
    public AttributeList setAttributes(AttributeList changes) {
        var set = new AttributeList();
        for (Attribute change : changes.asList()) {
            try {
                setAttribute(change);
                set.add(change);
            } catch (AttributeNotFoundException | InvalidAttributeValueException | RuntimeException e) {
                continue;
            }
        }
        return set;
    }

    @Override
    public @Nullable Object invoke(String name, Object @Nullable [] arguments, String @Nullable [] signature)
            throws ReflectionException {
        Object[] given = arguments == null ? new Object[0] : arguments;
        Operation operation = operations.get(name);
        if (operation == null || operation.parameters.size() != given.length) {
            throw new ReflectionException(new NoSuchMethodException(name + " " + Arrays.toString(signature)));
        }
        for (int i = 0; i < given.length; i++) {
            if (!fits(operation.parameters.get(i).type, given[i])) {
                throw new IllegalArgumentException(operation.parameters.get(i).name + " is a "
                        + operation.parameters.get(i).type.getName());
            }
        }
        return shown(operation.run.apply(given));
    }

    @Override
    public void addNotificationListener(
            NotificationListener listener, @Nullable NotificationFilter filter, @Nullable Object handback) {
        emitter.addNotificationListener(listener, filter, handback);
    }

    @Override
    public void removeNotificationListener(NotificationListener listener) throws ListenerNotFoundException {
        emitter.removeNotificationListener(listener);
    }

    @Override
    public void removeNotificationListener(
            NotificationListener listener, @Nullable NotificationFilter filter, @Nullable Object handback)
            throws ListenerNotFoundException {
        emitter.removeNotificationListener(listener, filter, handback);
    }

    @Override
    public MBeanNotificationInfo[] getNotificationInfo() {
        return emitter.getNotificationInfo();
    }
}
