import { memo, forwardRef, createContext, useCallback } from 'react';
import PropTypes from 'prop-types';
import { Button, Menu } from '@acme/ui';

const ThemeContext = createContext('light');

export function Card({ title, children, onClose }) {
  const [open, setOpen] = useState(true);
  const close = useCallback(() => {
    setOpen(false);
    onClose();
  }, [onClose]);

  return (
    <ThemeContext.Provider value={theme}>
      <section className="card">
        <Title text={title} />
        <Menu.Item onSelect={close} icon={renderIcon}>
          {children.map((child) => <Row key={child.id} {...child} />)}
        </Menu.Item>
        <Button onClick={() => track('close')}>Close</Button>
      </section>
    </ThemeContext.Provider>
  );
}

function renderIcon() {
  return <svg />;
}

const Title = memo(function Title({ text }) {
  return <h1>{text}</h1>;
});

export const Input = forwardRef((props, ref) => {
  const id = useId();
  return <input id={id} ref={ref} {...props} />;
});

class Legacy extends React.Component {
  state = { open: false };

  render() {
    return <Card title="x" onClose={this.handleClose} />;
  }

  handleClose = () => {
    this.setState({ open: false });
  };
}

Card.propTypes = { title: PropTypes.string };

export default function () {
  return <Card />;
}
